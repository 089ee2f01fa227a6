package audit

import (
	"fmt"

	"berth/internal/store"
)

// newer reports that the decisions of a seal are hashed with columns that this program does not
// know, as beside a server of the next release. One finding is of all such seals in a row.
func (c *check) newer(s *store.Seal) {
	c.feed.skip(s.Seq)
	from := s.Number
	if n := len(c.r.Findings); n > 0 {
		if last := &c.r.Findings[n-1]; last.What == Unchecked && last.Table == tableSeals && last.To == s.Number-1 {
			from = last.From
			c.r.Findings = c.r.Findings[:n-1]
		}
	}
	c.r.add(Finding{
		Table: tableSeals, What: Unchecked, From: from, To: s.Number, Seal: s.Number,
		Detail: fmt.Sprintf("the decisions of seals %d to %d were sealed by a newer program: check them with that one", from, s.Number),
	})
}
