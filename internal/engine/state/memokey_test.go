package state

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// strange are values that keys with separators would take for one another.
var strange = []string{"", "a", "a\x00b", "b", "\x00", "\x01", "\x02", "\x03", "ssd", "ssd\x00zone\x01Exists", "zone\x01Exists", "a,b", "a/b", "/", ",", "\x01a", "In", "Exists"}

func fuzzKeys(f *testing.F, check func(t *testing.T, x, y [4]string, split byte)) {
	for i := range strange {
		at := func(k int) string { return strange[(i*7+k*5)%len(strange)] }
		f.Add(at(0), at(1), at(2), at(3), at(0), at(1)+at(2), "", at(3), byte(i))
	}
	for _, split := range []byte{0x13, 0x31, 0x10, 0x01, 0x12, 0x21} {
		f.Add("disk", "In", "ssd\x00zone\x01Exists", "", "disk", "In", "ssd", "zone", split)
		f.Add("disk", "In", "ssd\x02hdd", "", "disk", "In", "ssd", "hdd", split)
		f.Add("shop", "a\x00b", "c", "", "shop", "a", "b\x00c", "", split)
		f.Add("rbd", "pool\x00image", "", "", "rbd", "pool", "image", "", split)
	}
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g, h, i string, split byte) {
		check(t, [4]string{a, b, c, d}, [4]string{e, g, h, i}, split)
	})
}

// same fails where different values have one key, or equal ones two.
func same[T any](t *testing.T, x, y T, key func(T) string) {
	t.Helper()
	if equal := reflect.DeepEqual(x, y); equal != (key(x) == key(y)) {
		t.Errorf("%#v and %#v: equal %t, keys %q and %q", x, y, equal, key(x), key(y))
	}
}

func FuzzTermKey(f *testing.F) {
	term := func(v [4]string, split byte) *corev1.NodeSelectorTerm {
		list := []corev1.NodeSelectorRequirement{{Key: v[0], Operator: corev1.NodeSelectorOperator(v[1]), Values: []string{v[2]}}}
		switch split % 4 {
		case 0:
			list[0].Values = append(list[0].Values, v[3])
		case 1:
			list = append(list, corev1.NodeSelectorRequirement{Key: v[3], Operator: "Exists"})
		case 2:
			return &corev1.NodeSelectorTerm{MatchFields: list}
		}
		return &corev1.NodeSelectorTerm{MatchExpressions: list}
	}
	fuzzKeys(f, func(t *testing.T, x, y [4]string, split byte) {
		same(t, term(x, split), term(y, split>>4), termKey)
	})
}

func FuzzShapeKey(f *testing.F) {
	type shape struct {
		ns          string
		labels      map[string]string
		terminating bool
	}
	of := func(v [4]string, split byte) shape {
		s := shape{v[0], map[string]string{v[1]: v[2]}, split&1 == 1}
		if split&2 == 2 {
			s.labels[v[3]] = v[2]
		}
		return s
	}
	fuzzKeys(f, func(t *testing.T, x, y [4]string, split byte) {
		same(t, of(x, split), of(y, split>>4), func(s shape) string { return string(shapeKey(nil, s.ns, s.labels, s.terminating)) })
	})
}

func FuzzDiskKey(f *testing.F) {
	of := func(v [4]string, split byte) Disk {
		d := Disk{Kind: v[0], Pool: v[1], Name: v[2], ReadOnly: split&1 == 1, Monitors: []string{}}
		if split&2 == 2 {
			d.Monitors = append(d.Monitors, v[3])
		}
		return d
	}
	fuzzKeys(f, func(t *testing.T, x, y [4]string, split byte) {
		same(t, of(x, split), of(y, split>>4), diskKey)
	})
}

func FuzzVolumeKind(f *testing.F) {
	of := func(v [4]string, split byte) *corev1.PersistentVolumeSpec {
		p := &corev1.PersistentVolumeSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(v[2])}}
		if split&1 == 1 {
			p.VolumeMode = (*corev1.PersistentVolumeMode)(&v[0])
		}
		if split&2 == 2 {
			p.VolumeAttributesClassName = &v[1]
		}
		if split&4 == 4 {
			p.AccessModes = append(p.AccessModes, corev1.PersistentVolumeAccessMode(v[3]))
		}
		return p
	}
	fuzzKeys(f, func(t *testing.T, x, y [4]string, split byte) {
		same(t, of(x, split), of(y, split>>4), volumeKind)
	})
}

func FuzzTaintKey(f *testing.F) {
	of := func(v [4]string, split byte) []corev1.Taint {
		list := []corev1.Taint{{Key: v[0], Value: v[1], Effect: corev1.TaintEffect(v[2])}}
		if split&1 == 1 {
			list = append(list, corev1.Taint{Key: v[3]})
		}
		return list
	}
	fuzzKeys(f, func(t *testing.T, x, y [4]string, split byte) {
		same(t, of(x, split), of(y, split>>4), taintKey)
	})
}

func FuzzAffinityKey(f *testing.F) {
	type term struct {
		topology   string
		namespaces []string
		selector   map[string]string
	}
	of := func(v [4]string, split byte) term {
		x := term{v[0], []string{v[1]}, map[string]string{"app": v[2]}}
		if split&1 == 1 {
			x.namespaces = append(x.namespaces, v[3])
		}
		return x
	}
	fuzzKeys(f, func(t *testing.T, x, y [4]string, split byte) {
		same(t, of(x, split), of(y, split>>4), func(x term) string {
			return affinityKey(&Term{TopologyKey: x.topology, Namespaces: slices.Clone(x.namespaces), NamespaceSelector: labels.Nothing(), Selector: labels.SelectorFromSet(x.selector)})
		})
	})
}

func TestVolumesOfHandlesAndOfClaimsDiffer(t *testing.T) {
	tables := newTables()
	if tables.volume(volumeKey{driver: "csi", handle: "\x00shop/data"}) == tables.volume(volumeKey{driver: "csi", namespace: "shop", claim: "data"}) {
		t.Error("a handle is taken for a claim's volume")
	}
}

func TestTermMemoIsBoundedByBytes(t *testing.T) {
	m := &nodeMemo{terms: map[string]Bits{}}
	key := make([]byte, maxMemoTermKey)
	for i := range 3 * maxMemoTermBytes / maxMemoTermKey {
		key[0], key[1] = byte(i), byte(i>>8)
		m.keepTerm(string(key), NewBits(64))
		if m.termBytes > maxMemoTermBytes {
			t.Fatalf("%d bytes after %d terms", m.termBytes, i+1)
		}
	}
	m.keepTerm(string(append(key, 0)), NewBits(64))
	if _, have := m.terms[string(append(key, 0))]; have {
		t.Error("a key over the bound is kept")
	}
	if len(m.terms) == 0 {
		t.Error("nothing is kept")
	}
}

// TestTaintKeyLeavesOutTimes: since when a taint is there decides nothing, so nodes
// that differ in it share a list.
func TestTaintKeyLeavesOutTimes(t *testing.T) {
	at := metav1.Unix(1, 0)
	a := []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute}}
	b := []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute, TimeAdded: &at}}
	if taintKey(a) != taintKey(b) {
		t.Error("timeAdded makes another list of taints")
	}
}
