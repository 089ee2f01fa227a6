package state

import "berth/internal/jsonscan"

// nameList holds the nodes' names as JSON, in order, each with a comma behind it: that of place p
// in the order is text[ends[p]:ends[p+1]].
type nameList struct {
	text []byte
	ends []int32
}

// AppendNames appends the names of rows as a JSON list in order of the names, as encoding/json
// writes it.
func (s *NodeSet) AppendNames(b []byte, rows Bits) []byte {
	names := s.names()
	b = append(b, '[')
	from := 0 // of the names to be copied together
	for place, row := range s.order {
		if !rows.Has(int(row)) {
			b = append(b, names.text[names.ends[from]:names.ends[place]]...)
			from = place + 1
		}
	}
	b = append(b, names.text[names.ends[from]:]...)
	if n := len(b) - 1; b[n] == ',' {
		b = b[:n]
	}
	return append(b, ']')
}

func (s *NodeSet) names() *nameList {
	if names := s.memo.names.Load(); names != nil {
		return names
	}
	var w jsonscan.Writer
	ends := make([]int32, 1, len(s.order)+1)
	for _, row := range s.order {
		w.Text("", s.rows[row].Name)
		w.JSON = append(w.JSON, ',')
		ends = append(ends, int32(len(w.JSON)))
	}
	names := &nameList{w.JSON, ends}
	s.memo.names.Store(names)
	return names
}
