package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/store"
	"berth/internal/store/seal"
)

// Broken names the chains that no longer hold the anchor: the seal of each head is looked up, and
// nothing else is read.
func (a Anchor) Broken(ctx context.Context, st store.Seals) ([]Finding, error) {
	var list []Finding
	for _, h := range a.Heads {
		page, err := st.ListSeals(ctx, h.Cluster, h.Seal-1, 1, false)
		if err != nil {
			return nil, err
		}
		f := Finding{Cluster: h.Cluster, Table: tableSeals, What: Anchored, From: h.Seal, To: h.Seal}
		switch {
		case len(page) == 0 || page[0].Number != h.Seal:
			f.Detail = gone(h.Seal)
		case h.Hash != hex.EncodeToString(page[0].Hash) || !bytes.Equal(page[0].Hash, seal.Hash(page[0])):
			f.Detail = fmt.Sprintf("seal %d is not the one of the anchor: the chain was written anew", h.Seal)
		default:
			continue
		}
		list = append(list, f)
	}
	return list, nil
}

func gone(seal int64) string {
	return fmt.Sprintf("seal %d of the anchor is not there: the chain was cut, or the cluster was deleted since, which the next seal shows", seal)
}

// ReadAnchor reads an anchor from a file.
func ReadAnchor(file string) (a Anchor, err error) {
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	return a, err
}

const anchorFiles = "anchor-*.json"

// LastAnchor reads the newest anchor that Keep wrote into a directory; an empty one without any.
func LastAnchor(dir string) (Anchor, error) {
	files, err := filepath.Glob(filepath.Join(dir, anchorFiles))
	if err != nil || len(files) == 0 {
		return Anchor{}, err
	}
	file := slices.Max(files)
	a, err := ReadAnchor(file)
	if err != nil {
		return a, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

// Keep writes the anchor into a directory, as a file of its own that is named by the time.
func (a Anchor) Keep(dir string, now time.Time) (err error) {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".anchor-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	name := filepath.Join(dir, "anchor-"+now.UTC().Format("20060102T150405.000000Z")+".json")
	return os.Rename(f.Name(), name)
}
