package engine

import "berth/internal/engine/state"

// Rule is one plugin with its arguments, built once per profile and used by many decisions at a
// time: it keeps nothing about a decision. It implements those of the phases below that it needs,
// and Adapt makes a Plugin from it. S is its PreFilter state: what its PreFilter returns for the
// later phases, NoState for a rule without. It is the zero value where PreFilter did not run, or
// skipped the pod.
type Rule interface {
	// Name is the plugin's name in kube-scheduler.
	Name() string
}

// NoState is the PreFilter state of rules that keep nothing.
type NoState struct{}

// PreEnqueuer holds pods back before any other phase: the outcome is Gated and the text is the
// message. An empty text lets the pod pass.
type PreEnqueuer interface {
	Rule
	PreEnqueue(q *Query) string
}

// PreFilterer runs once per decision, before any node is judged.
type PreFilterer[S any] interface {
	Rule
	PreFilter(q *Query) (S, PreFilterResult)
}

// PreFilterResult is the result of PreFilter. The zero value lets the decision continue.
type PreFilterResult struct {
	// Skip reports that the rule has nothing to filter for this pod.
	Skip bool
	// Code other than Success rejects the pod on every node, with Reason.
	Code   Code
	Reason string
	// Names, where not nil, are the only nodes to judge.
	Names map[string]struct{}
}

// Filterer rejects nodes. It judges all of in at once and adds to rej the nodes
// of in that fail.
type Filterer[S any] interface {
	Rule
	Filter(q *Query, state S, in state.Bits, rej *Rejected) error
}

// Scorer scores every feasible node, raw and normalised.
type Scorer[S any] interface {
	Rule
	Score(q *Query, state S, feasible state.Bits, out *Scores) error
}

// Locality is how far a rule reads when it judges a node for one pod.
type Locality uint8

// The localities.
const (
	// Anywhere: anything in the cluster may change the verdict. A rule that is not Local is
	// Anywhere.
	Anywhere Locality = iota
	// OwnRow: the verdict and the raw score of a node follow from the pod, the nodes, and the pods
	// on that node.
	OwnRow
	// NodesOnly: they follow from the pod and the nodes.
	NodesOnly
)

// Local is a rule that knows its locality, so that a Decider may keep its verdicts on rows that did
// not change. The locality holds until the nodes, the labels of namespaces, the objects of the
// pod's namespace or the interned terms change. It may depend on these, but not on the pod's name,
// UID and age.
//
// A rule that is not Anywhere judges a row the same whatever other rows it judges. It calls Skip
// and Uniform for all rows or for none, and its normalised scores are the raw ones or follow from
// them by NormalizeByMax. If it is OwnRow and may return several reasons, it is a ReasonRanker.
type Local interface {
	Rule
	Locality(q *Query) Locality
}

// ReasonRanker orders the reasons of a rule that may have several for one node, where verdicts of
// several passes are merged. Reasons of one rank are ordered by text.
type ReasonRanker interface {
	Rule
	ReasonRank(text string) int
}

// PostFilterer adds to the message of a pod that fits nowhere; rej holds its own rejections, nil
// for none.
type PostFilterer[S any] interface {
	Rule
	PostFilter(q *Query, state S, rej *Rejected) string
}

// Allotter names the devices that the pod would get on a node.
type Allotter[S any] interface {
	Rule
	Allotted(q *Query, state S, row int) []AllottedDevice
}

// Detailer explains a rejected node with structured details.
type Detailer[S any] interface {
	Rule
	Details(q *Query, state S, row int) []Detail
}

// Spreader lists the domains of topology spread.
type Spreader interface {
	Rule
	Spread(q *Query) []SpreadConstraint
}

// VolumePlanner returns what the pod's waiting claims would get on a feasible node, in order of the
// pod's volumes. It changes nothing.
type VolumePlanner[S any] interface {
	Rule
	Volumes(q *Query, state S, row int) []VolumeBinding
}

// Abstainer is a rule that cannot be judged for the pod in this version, or with this snapshot; ok
// is false where there is nothing to judge.
type Abstainer interface {
	Rule
	NotEvaluated(q *Query) (reason string, ok bool)
}

// Rejected collects the nodes that one rule rejects.
type Rejected struct {
	// Plugin is the rule's name.
	Plugin string
	// Nodes are all that failed, Unresolvable those that preemption cannot help.
	Nodes, Unresolvable state.Bits
	// Reasons are the reasons; a node may have several.
	Reasons []Reason
}

// Reason is one of a rule's reasons and the nodes that have it.
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

// Scores is one rule's column of scores. The rule fills Raw and Norm for the feasible rows, or
// calls Uniform where all are the same, or Skip where it does not score.
type Scores struct {
	Raw, Norm []int64
	skip      bool
	uniform   bool
	raw, norm int64
	by        normalisation
	// A Decider keeps scores as bytes, instead of Raw and Norm.
	raws, norms []uint8
}

// normalisation is how the normalised scores follow from the raw ones.
type normalisation uint8

const (
	byRule normalisation = iota // in the rule's own way
	byMax
	byMaxReverse
)

// NormalizedByMax marks Norm as the result of NormalizeByMax on Raw, for rules that compute it
// faster themselves.
func (s *Scores) NormalizedByMax(reverse bool) {
	s.by = byMax
	if reverse {
		s.by = byMaxReverse
	}
}

// normIsRaw reports whether the two are one column.
func (s *Scores) normIsRaw() bool {
	if s.raws != nil {
		return s.norms == nil
	}
	return len(s.Raw) > 0 && &s.Raw[0] == &s.Norm[0]
}

// Skip marks the rule as not scoring this pod.
func (s *Scores) Skip() { s.skip = true }

// Uniform sets one score for all feasible nodes.
func (s *Scores) Uniform(raw, norm int64) { s.uniform, s.raw, s.norm = true, raw, norm }

// Same makes the normalised scores the raw ones.
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

// NormalizeByMax maps raw scores to 0..100 in proportion to the largest, reversed if reverse is
// set, truncating as upstream does (plugins/helper/normalize_score.go DefaultNormalizeScore).
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

// maxKnown is the raw score up to which normalised ones are looked up.
const maxKnown = 512
