package audit_test

import (
	"fmt"
	"testing"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/internal/store/seal"
)

// TestSealsOfANewerProgram: decisions that a server of the next release has sealed, with columns of
// its own, are not checked and not said to be changed; their seals are checked.
func TestSealsOfANewerProgram(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.fill()
		blob := "x'%x'"
		if f.postgres {
			blob = `'\x%x'`
		}
		page, err := f.ListSeals(t.Context(), "prod", 1, 2, false)
		if err != nil || len(page) != 2 {
			t.Fatal(page, err)
		}
		for i, s := range page {
			s.Format = store.SealFormat + 1
			s.RowHashes[0] ^= 1 // what only the newer program hashes so
			if i > 0 {
				s.Previous = page[i-1].Hash
			}
			s.Hash = seal.Hash(s)
			f.exec(fmt.Sprintf("UPDATE seals SET format = %d, row_hashes = "+blob+", previous = "+blob+", hash = "+blob+" WHERE number = %d", s.Format, s.RowHashes, s.Previous, s.Hash, s.Number))
		}
		f.exec(fmt.Sprintf("UPDATE clusters SET seal_hash = "+blob, page[1].Hash))
		r := f.verify(audit.Options{})
		if len(r.Findings) != 1 || r.Findings[0].What != audit.Unchecked || r.Findings[0].From != 2 || r.Findings[0].To != 3 {
			t.Errorf("%+v", r.Findings)
		}
		if r.Accept(); !r.Good() {
			t.Errorf("accepted: %+v", r.Findings)
		}
		f.exec("UPDATE seals SET format = format + 1 WHERE number = 3")
		if r := f.verify(audit.Options{}); len(r.Findings) < 1 || r.Findings[0].What == audit.Unchecked && len(r.Findings) == 1 {
			t.Errorf("a seal whose format was changed: %+v", r.Findings)
		}
	})
}
