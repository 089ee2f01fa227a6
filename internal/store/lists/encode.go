// Package lists writes and reads the lists of a decision (failures, scores,
// victims) as the columns of every backend hold them, so that one record is the
// same bytes in each.
package lists

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/internal/store"
)

// The lists of a decision are JSON arrays of arrays: half the size of objects,
// and SQL makes rows of them. They are written by hand since they are written
// for each decision; they are read with encoding/json.

// listRoom is the bytes that most lists take. They are written to the stack, and then made a text.
const listRoom = 512

// encodeFailures returns
// [[plugin, code, reason, nodes, [name…], prefix, suffix, [[pool, nodes]…]]…], what is empty left
// out at the end; empty for an empty list. The names of one reason often begin and end alike: what
// they share is written once, as prefix and suffix, where that is shorter. The two usual codes are
// numbers, see codes.
func encodeFailures(fs []store.Failure) string {
	if len(fs) == 0 {
		return ""
	}
	var room [listRoom]byte
	b := room[:0]
	for i := range fs {
		f := &fs[i]
		b = append(b, separator(i)...)
		b = append(appendString(b, f.Plugin), ',')
		b = append(appendCode(b, f.Code), ',')
		b = append(appendString(b, f.Reason), ',')
		b = strconv.AppendInt(b, int64(f.Nodes), 10)
		prefix, suffix := shared(f.Names)
		for j, name := range f.Names {
			if j == 0 {
				b = append(b, ",["...)
			} else {
				b = append(b, ',')
			}
			b = appendString(b, name[len(prefix):len(name)-len(suffix)])
		}
		if len(f.Names) > 0 {
			b = append(b, ']')
		}
		if len(f.Names) == 0 && len(f.Pools) > 0 {
			b = append(b, ",[]"...)
		}
		if prefix != "" || suffix != "" || len(f.Pools) > 0 {
			b = append(appendString(append(b, ','), prefix), ',')
			b = appendString(b, suffix)
		}
		b = append(appendPools(b, f.Pools), ']')
	}
	return string(append(b, ']'))
}

// appendPools appends the element with the counts by pool, where there are any.
func appendPools(b []byte, pools []store.PoolCount) []byte {
	if len(pools) == 0 {
		return b
	}
	b = append(b, ',')
	for i := range pools {
		b = append(appendString(append(b, separator(i)...), pools[i].Pool), ',')
		b = append(strconv.AppendInt(b, int64(pools[i].Nodes), 10), ']')
	}
	return append(b, ']')
}

// codes are the two ways in which a plugin turns a node down, as numbers; the
// views of the log know them too.
var codes = [...]string{1: "Unschedulable", 2: "UnschedulableAndUnresolvable"}

func appendCode(b []byte, code string) []byte {
	for i, c := range codes {
		if i > 0 && c == code {
			return strconv.AppendInt(b, int64(i), 10)
		}
	}
	return appendString(b, code)
}

// shared returns what names have in common at either end, cut at whole characters;
// nothing where writing it once would not save bytes.
func shared(names []string) (prefix, suffix string) {
	if len(names) < 2 {
		return "", ""
	}
	shortest := slices.MinFunc(names, func(x, y string) int { return len(x) - len(y) })
	prefix = shortest
	for _, name := range names {
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	for !utf8.ValidString(prefix) {
		prefix = prefix[:len(prefix)-1]
	}
	suffix = shortest[len(prefix):]
	for _, name := range names {
		for !strings.HasSuffix(name, suffix) {
			suffix = suffix[1:]
		}
	}
	for !utf8.ValidString(suffix) {
		suffix = suffix[1:]
	}
	if (len(names)-1)*(len(prefix)+len(suffix)) <= 6 { // 6 is what two strings cost
		return "", ""
	}
	return prefix, suffix
}

// encodeVictims returns [[namespace, pod, uid, priority, node]…]; empty for an empty list. Behind
// them are budget, kind and name of the owner, where they are kept.
func encodeVictims(vs []store.Victim) string {
	if len(vs) == 0 {
		return ""
	}
	var room [listRoom]byte
	b := room[:0]
	for i := range vs {
		v := &vs[i]
		b = append(b, separator(i)...)
		b = append(appendString(b, v.Namespace), ',')
		b = append(appendString(b, v.Pod), ',')
		b = append(appendString(b, v.UID), ',')
		b = append(strconv.AppendInt(b, int64(v.Priority), 10), ',')
		b = appendString(b, v.Node)
		if v.Budget != nil {
			b = appendString(append(b, ','), *v.Budget)
			b = appendString(append(b, ','), v.OwnerKind)
			b = appendString(append(b, ','), v.OwnerName)
		}
		b = append(b, ']')
	}
	return string(append(b, ']'))
}

// separator opens the list before its first element, then each element.
func separator(i int) string {
	if i == 0 {
		return "[["
	}
	return ",["
}

// appendString quotes text that is known to be UTF-8.
func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			// Rare in names and reasons. Marshalling a string cannot fail.
			q, _ := json.Marshal(s)
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// decodeRows reads an array of arrays, whose rows may leave out their last
// fields. A row of the database is input like any other: what does not fit is
// an error, never a panic.
func decodeRows(what, column string, each func(fields func(i int, into any) error) error) error {
	var rows [][]json.RawMessage
	if err := json.Unmarshal([]byte(column), &rows); err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	for _, row := range rows {
		field := func(i int, into any) error {
			if i >= len(row) {
				return nil
			}
			return json.Unmarshal(row[i], into)
		}
		if err := each(field); err != nil {
			return fmt.Errorf("read %s: %w", what, err)
		}
	}
	return nil
}
