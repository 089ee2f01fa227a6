package enginetest

import (
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// spellings are separators that a careless key would put behind a requirement, before its
// operator and before each of its values. Values that an apiserver does not check may hold them.
var spellings = [][3]string{{"\x00", "\x01", "\x02"}, {"\x00", "\x00", "\x00"}, {",", "=", "|"}, {"\n", "\t", "\x1f"}, {"", "", ""}}

// lookalikes is Lookalikes for one case in four.
func lookalikes(seed uint64, c *Case) {
	if rand.New(rand.NewPCG(seed, 0x6f6464)).IntN(4) == 0 {
		Lookalikes(seed, c)
	}
}

// Lookalikes puts values into a case that hold control characters, are empty, are very long, or
// spell what two other values would spell side by side. It draws from numbers of its own, so
// that everything else of a case stays as it is.
func Lookalikes(seed uint64, c *Case) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x6c6f6f6b))}
	for _, o := range c.Objects {
		switch o := o.(type) {
		case *corev1.Node:
			g.nodes = append(g.nodes, o.Name)
			if g.in(8) {
				o.Spec.Taints = append(o.Spec.Taints, corev1.Taint{Key: "odd", Value: g.odd(), Effect: corev1.TaintEffectPreferNoSchedule})
			}
		case *corev1.Pod:
			if g.in(8) {
				o.UID = o.UID + "\x00" + o.UID
			}
		}
	}
	for range 1 + g.r.IntN(3) {
		PreferNodes(int32(1+g.r.IntN(100)), g.oddTerm())(c.Pod)
	}
	if g.in(3) {
		RequireNodes(g.honestTerm())(c.Pod)
	}
	if g.in(4) {
		c.Pod.Spec.Tolerations = append(c.Pod.Spec.Tolerations, corev1.Toleration{Key: "odd", Operator: corev1.TolerationOpEqual, Value: g.odd()})
	}
}

// odd draws a value that is empty, very long, or holds control characters.
func (g *generator) odd() string {
	switch g.r.IntN(3) {
	case 0:
		return ""
	case 1:
		return strings.Repeat("x", 1+g.r.IntN(3000))
	default:
		return g.of("ssd", "a") + g.of("\x00", "\x01", "\n", "\u202e") + g.of("ssd", "b")
	}
}

// honestTerm is a term of two requirements.
func (g *generator) honestTerm() corev1.NodeSelectorTerm {
	second := Expr("rack", corev1.NodeSelectorOperator(g.of("Exists", "DoesNotExist")))
	if g.in(3) {
		second = Expr("rack", corev1.NodeSelectorOperator(g.of("In", "NotIn")), g.of("a", "b"))
	}
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{Expr("disk", corev1.NodeSelectorOpIn, g.of("ssd", "hdd")), second}}
}

// oddTerm is an honest term, one with an odd value, or one whose single value spells the two
// requirements of an honest one.
func (g *generator) oddTerm() corev1.NodeSelectorTerm {
	t := g.honestTerm()
	first, second := &t.MatchExpressions[0], &t.MatchExpressions[1]
	switch g.r.IntN(4) {
	case 0:
		first.Values[0] = g.odd()
	case 1, 2:
		sep := spellings[g.r.IntN(len(spellings))]
		first.Values[0] += sep[0] + second.Key + sep[1] + string(second.Operator)
		for _, v := range second.Values {
			first.Values[0] += sep[2] + v
		}
		t.MatchExpressions = t.MatchExpressions[:1]
	}
	return t
}
