package store

import (
	"strconv"
	"strings"

	"berth/internal/jsonscan"
)

// Bounds of Decision.Blockers, whose head is its bracket and its number.
const (
	maxBlockers     = 10
	maxBlockerBytes = 1 << 10
	blockersHead    = 21
)

// Blocker is an object in the way of a decision that places nothing, as SQL shows it.
type Blocker struct {
	Plugin    string // rejects a node because of it
	Kind      string
	Namespace string // empty: it is in none
	Name      string
	// OwnerKind and OwnerName are a pod's top owner; empty without one.
	OwnerKind, OwnerName string
}

// EncodeBlockers returns objects as Decision.Blockers: a JSON list of how many more there are, and
// of a list [plugin, kind, namespace, name, owner's kind, owner's name] for each, the last two left
// out where there is no owner. Objects that do not fit into the bounds are counted. It is empty
// without any object.
func EncodeBlockers(list []Blocker, more int) string {
	if len(list) == 0 {
		return ""
	}
	var room [maxBlockerBytes]byte
	b, kept := room[:0], 0
	for ; kept < min(len(list), maxBlockers); kept++ {
		o, before := &list[kept], len(b)
		b = jsonscan.AppendString(append(b, ",["...), o.Plugin)
		texts := []string{o.Kind, o.Namespace, o.Name, o.OwnerKind, o.OwnerName}
		if o.OwnerKind == "" {
			texts = texts[:3]
		}
		for _, text := range texts {
			b = jsonscan.AppendString(append(b, ','), text)
		}
		if b = append(b, ']'); blockersHead+len(b) >= maxBlockerBytes {
			b = b[:before]
			break
		}
	}
	head := "[" + strconv.Itoa(more+len(list)-kept)
	return head + strings.ReplaceAll(string(append(b, ']')), nul, `\ufffd`)
}
