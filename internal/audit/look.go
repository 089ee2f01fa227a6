package audit

import (
	"context"

	"berth/internal/store"
)

// Look returns what a server can find at its start without reading the log: of each cluster whether
// its chain has its beginning. What it finds is for Verify to tell in full.
func Look(ctx context.Context, st store.Seals) ([]Finding, error) {
	heads, err := st.SealHeads(ctx, "")
	if err != nil {
		return nil, err
	}
	var list []Finding
	for _, h := range heads {
		if f, ok := unbegun(h); ok {
			list = append(list, f)
		}
	}
	return list, nil
}
