package revision

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// A revision's row and a checkpoint's hold what woke pods, after a byte for the form: the revision
// since when it is known, the groups, and the pods that wait no longer. A group is its wake, the
// pods that it leaves out of those that the plugin's newest wake before had, if it begins with
// those, and the pods that it adds. One deletion after the other wakes the same pods, and a row
// names those that differ. Names are sorted, and each leaves out what it has in common with the one
// before.
const wokenForm = 1

// fewWoken is up to how many pods a group names without a look at the wake before.
const fewWoken = 4

var errWoken = errors.New("what woke pods cannot be read")

// encode writes what a revision did on top of what is known before.
func (x *wakes) encode(before *woken) []byte {
	b := binary.AppendUvarint([]byte{wokenForm}, 0)
	b = binary.AppendUvarint(b, uint64(len(x.groups)))
	var began []string // plugins that have a group already
	for i := range x.groups {
		g := &x.groups[i]
		var base []podName
		if len(g.pods) > fewWoken && !slices.Contains(began, g.Plugin) {
			base = before.newest(g.Plugin)
		}
		began = append(began, g.Plugin)
		without, added := missing(base, g.pods), missing(g.pods, base)
		if len(without)+len(added) >= len(g.pods) {
			base, without, added = nil, nil, g.pods
		}
		b = appendGroup(b, g.Wake, base != nil, without, added)
	}
	return appendPods(b, x.gone)
}

// decodeWakes reads the row of a revision.
func decodeWakes(b []byte, before *woken) (*wakes, error) {
	r := wokenReader{b: b}
	x := &wakes{}
	var err error
	if x.groups, err = r.read(func(g *wakeGroup, based bool, without []podName) {
		if based {
			g.pods = slices.Concat(missing(before.newest(g.Plugin), without), g.pods)
			slices.SortFunc(g.pods, podName.compare)
		}
	}); err != nil {
		return nil, err
	}
	x.gone = r.pods()
	return x, r.err()
}

// encode writes all that is known.
func (w *woken) encode() []byte {
	if w == nil {
		return nil
	}
	groups := w.groups()
	b := binary.AppendUvarint([]byte{wokenForm}, uint64(w.since)) //nolint:gosec // not below 0
	b = binary.AppendUvarint(b, uint64(len(groups)))
	for i := range groups {
		b = appendGroup(b, groups[i].Wake, false, nil, groups[i].pods)
	}
	return appendPods(b, nil)
}

// decodeWoken reads what a checkpoint has.
func decodeWoken(b []byte) (*woken, error) {
	r := wokenReader{b: b}
	groups, err := r.read(func(*wakeGroup, bool, []podName) {})
	if err != nil {
		return nil, err
	}
	r.pods()
	w := &woken{since: r.since}
	return w.after(&wakes{groups: groups}), r.err()
}

// missing returns the pods of a list that another one lacks. Both are sorted.
func missing(list, other []podName) (out []podName) {
	for _, p := range list {
		for len(other) > 0 && other[0].compare(p) < 0 {
			other = other[1:]
		}
		if len(other) == 0 || other[0] != p {
			out = append(out, p)
		}
	}
	return out
}

func appendGroup(b []byte, w *state.Wake, based bool, without, added []podName) []byte {
	b = binary.AppendVarint(b, w.Revision)
	for _, s := range []string{w.Plugin, w.Event, w.Object.Kind, w.Object.Namespace, w.Object.Name} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	if based {
		b = appendPods(append(b, 1), without)
	} else {
		b = append(b, 0)
	}
	return appendPods(b, added)
}

func appendPods(b []byte, list []podName) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	last := ""
	for _, p := range list {
		text := p.namespace + "/" + p.name
		same := 0
		for same < len(last) && same < len(text) && last[same] == text[same] {
			same++
		}
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(same)), uint64(len(text)-same)) //nolint:gosec // not below 0
		b, last = append(b, text[same:]...), text
	}
	return b
}

// wokenReader reads either. After bytes that cannot be read it returns zero values.
type wokenReader struct {
	b     []byte
	bad   bool
	since int64
}

// read reads the groups. made is called with each, and the pods that it leaves out.
func (r *wokenReader) read(made func(g *wakeGroup, based bool, without []podName)) (groups []wakeGroup, err error) {
	if len(r.b) == 0 || r.b[0] != wokenForm {
		return nil, errWoken
	}
	r.b = r.b[1:]
	r.since = int64(r.number()) //nolint:gosec // as it was written
	for n := r.number(); n > 0 && !r.bad; n-- {
		revision, size := binary.Varint(r.b)
		if r.bad = size <= 0; r.bad {
			break
		}
		r.b = r.b[size:]
		g := wakeGroup{Wake: &state.Wake{
			Revision: revision, Plugin: r.text(), Event: r.text(),
			Object: object.Key{Kind: r.text(), Namespace: r.text(), Name: r.text()},
		}}
		var without []podName
		based := r.number() == 1
		if based {
			without = r.pods()
		}
		g.pods = r.pods()
		made(&g, based, without)
		groups = append(groups, g)
	}
	return groups, r.err()
}

func (r *wokenReader) err() error {
	if r.bad {
		return errWoken
	}
	return nil
}

func (r *wokenReader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *wokenReader) text() string {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *wokenReader) pods() (list []podName) {
	last := ""
	for n := r.number(); n > 0 && !r.bad; n-- {
		same := r.number()
		rest := r.text()
		if same > uint64(len(last)) {
			r.bad = true
			return nil
		}
		last = last[:same] + rest
		namespace, name, _ := strings.Cut(last, "/")
		list = append(list, podName{namespace, name})
	}
	return list
}
