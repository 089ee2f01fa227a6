package engine

import "berth/internal/engine/state"

// Rule is one plugin with its arguments, built once per profile and used by
// many decisions at a time: it keeps nothing about a decision. It implements
// those of the phases below that it needs, and Adapt makes of it what the cycle
// runs. S is its PreFilter state: what its PreFilter returns for the phases
// behind it, NoState for a rule without. It is the zero value where PreFilter did
// not run, or skipped the pod.
type Rule interface {
	// Name is the plugin's name in kube-scheduler.
	Name() string
}

// NoState is the PreFilter state of rules that keep nothing.
type NoState struct{}

// PreEnqueuer holds pods back before anything is looked at: the outcome is Gated
// and the text is the message. An empty text lets the pod pass.
type PreEnqueuer interface {
	Rule
	PreEnqueue(q *Query) string
}

// PreFilterer looks at the pod once per decision, before any node.
type PreFilterer[S any] interface {
	Rule
	PreFilter(q *Query) (S, PreFilterResult)
}

// PreFilterResult is what a rule learned before the nodes. The zero value lets the
// decision go on.
type PreFilterResult struct {
	// Skip reports that the rule has nothing to filter for this pod.
	Skip bool
	// Code other than Success rejects the pod on every node, with Reason.
	Code   Code
	Reason string
	// Names, where not nil, are the only nodes worth asking about.
	Names map[string]struct{}
}

// Filterer rejects nodes. It judges all of in at once and adds to rej the nodes
// of in that fail.
type Filterer[S any] interface {
	Rule
	Filter(q *Query, state S, in state.Bits, rej *Rejected) error
}

// Scorer gives every feasible node a raw and a normalised score.
type Scorer[S any] interface {
	Rule
	Score(q *Query, state S, feasible state.Bits, out *Scores) error
}

// Locality says how far a rule looks when it judges a node for one pod.
type Locality uint8

// The localities.
const (
	// Anywhere says that anything in the cluster may change the answer. It is what
	// a rule that is not Local has.
	Anywhere Locality = iota
	// OwnRow says that the verdict and the raw score of a node follow from the pod,
	// the nodes, and the pods on that node.
	OwnRow
	// NodesOnly says that they follow from the pod and the nodes.
	NodesOnly
)

// Local is a rule that knows how far it looks, so that a Decider may keep its
// answers about rows that did not change. What it says holds until the nodes,
// the labels of namespaces, the objects of the pod's namespace or the interned
// terms change; it may read these, and nothing of the pod's name, UID and age.
//
// A rule that is not Anywhere judges a row alike whatever other rows it is asked
// about, says Skip and Uniform for all of them or none, and has normalised
// scores that are the raw ones or follow from them by NormalizeByMax. Where one
// that looks at its OwnRow may give several reasons, it is a ReasonRanker.
type Local interface {
	Rule
	Locality(q *Query) Locality
}

// ReasonRanker orders the reasons of a rule that may give a node several, where
// verdicts of several passes are put together. Reasons of one rank go by text.
type ReasonRanker interface {
	Rule
	ReasonRank(text string) int
}

// PostFilterer adds to the message of a pod that fits nowhere; rej is what it
// rejected itself, nil for nothing.
type PostFilterer[S any] interface {
	Rule
	PostFilter(q *Query, state S, rej *Rejected) string
}

// Allotter names the devices that the pod would get on a node.
type Allotter[S any] interface {
	Rule
	Allotted(q *Query, state S, row int) []AllottedDevice
}

// Detailer explains a rejected node with structure instead of words.
type Detailer[S any] interface {
	Rule
	Details(q *Query, state S, row int) []Detail
}

// Spreader gives the ledger of topology spread.
type Spreader interface {
	Rule
	Spread(q *Query) []SpreadConstraint
}

// VolumePlanner says what the pod's claims that wait for a node would get on one
// that is feasible, in order of the pod's volumes. It changes nothing.
type VolumePlanner[S any] interface {
	Rule
	Volumes(q *Query, state S, row int) []VolumeBinding
}

// Abstainer is a rule that this version, or this snapshot, cannot judge for
// the pod; ok is false where there is nothing to judge.
type Abstainer interface {
	Rule
	NotEvaluated(q *Query) (reason string, ok bool)
}

// Rejected collects the nodes that one rule fails.
type Rejected struct {
	// Plugin is the rule's name.
	Plugin string
	// Nodes are all that failed, Unresolvable those that preemption cannot help.
	Nodes, Unresolvable state.Bits
	// Reasons say why; a node may have several.
	Reasons []Reason
}

// Reason is one of a rule's reasons and the nodes that it holds for.
type Reason struct {
	Text  string
	Nodes state.Bits
}

// Add rejects nodes for a reason. It keeps the set, which therefore must not be
// written afterwards.
func (r *Rejected) Add(text string, code Code, nodes state.Bits) {
	if nodes.Empty() {
		return
	}
	r.Nodes.Or(nodes)
	if code == UnschedulableAndUnresolvable {
		r.Unresolvable.Or(nodes)
	}
	r.Reasons = append(r.Reasons, Reason{text, nodes})
}

// Scores is one rule's column of scores. Either the rule fills Raw and Norm for
// the feasible rows, or it says that they are all the same with Uniform, or
// nothing at all with Skip.
type Scores struct {
	Raw, Norm []int64
	skip      bool
	uniform   bool
	raw, norm int64
	by        normalisation
	// Where a Decider kept them, scores are bytes instead of Raw and Norm.
	raws, norms []uint8
}

// normalisation says how the normalised scores follow from the raw ones.
type normalisation uint8

const (
	byRule normalisation = iota // in a way of the rule's own
	byMax
	byMaxReverse
)

// NormalizedByMax says that Norm is what NormalizeByMax makes of Raw, for rules
// that have a shorter way there.
func (s *Scores) NormalizedByMax(reverse bool) {
	s.by = byMax
	if reverse {
		s.by = byMaxReverse
	}
}

// normIsRaw says that the two are one column.
func (s *Scores) normIsRaw() bool {
	if s.raws != nil {
		return s.norms == nil
	}
	return len(s.Raw) > 0 && &s.Raw[0] == &s.Norm[0]
}

// Skip says that the rule has no opinion on this pod.
func (s *Scores) Skip() { s.skip = true }

// Uniform gives all feasible nodes one score.
func (s *Scores) Uniform(raw, norm int64) { s.uniform, s.raw, s.norm = true, raw, norm }

// Same says that the normalised scores are the raw ones.
func (s *Scores) Same() { s.Norm = s.Raw }

func (s *Scores) at(row int) (raw, norm int64) {
	switch {
	case s.uniform:
		return s.raw, s.norm
	case s.norms != nil:
		return int64(s.raws[row]), int64(s.norms[row])
	case s.raws != nil:
		return int64(s.raws[row]), int64(s.raws[row])
	}
	return s.Raw[row], s.Norm[row]
}

// MaxScore is the best normalised score.
const MaxScore = 100

// NormalizeByMax maps raw scores to 0..100 in proportion to the largest, the
// other way round if reverse, truncating as upstream does
// (plugins/helper/normalize_score.go DefaultNormalizeScore).
func NormalizeByMax(feasible state.Bits, out *Scores, reverse bool) {
	out.NormalizedByMax(reverse)
	var most int64
	for from, to := range feasible.Runs() {
		for _, raw := range out.Raw[from:to] {
			most = max(most, raw)
		}
	}
	one := func(raw int64) int64 { return normalByMax(raw, most, reverse) }
	if most >= maxKnown {
		for row := range feasible.All() {
			out.Norm[row] = one(out.Raw[row])
		}
		return
	}
	// Raw scores are few and small, so each is divided once.
	var known [maxKnown]int64
	for raw := range most + 1 {
		known[raw] = one(raw)
	}
	for from, to := range feasible.Runs() {
		norm := out.Norm[from:to]
		for k, raw := range out.Raw[from:to] {
			norm[k] = known[raw]
		}
	}
}

func normalByMax(raw, most int64, reverse bool) int64 {
	var n int64
	if most > 0 {
		n = MaxScore * raw / most
	}
	if reverse {
		n = MaxScore - n
	}
	return n
}

// maxKnown is up to which raw score normalised ones are looked up.
const maxKnown = 512
