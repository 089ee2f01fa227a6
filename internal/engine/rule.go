package engine

import "math/bits"

// Rule is one plugin with its arguments, built once per profile and used by
// many decisions at a time: it keeps nothing about a decision. It implements
// those of the phases below that it needs.
type Rule interface {
	// Name is the plugin's name in kube-scheduler.
	Name() string
}

// PreFilterer looks at the pod once per decision, before any node.
type PreFilterer interface {
	Rule
	PreFilter(q *Query) PreFilterResult
}

// PreFilterResult is what a rule learned before the nodes. The zero value says
// "go on".
type PreFilterResult struct {
	// Skip says that the rule has nothing to filter for this pod.
	Skip bool
	// Code other than Success rejects the pod on every node, with Reason.
	Code   Code
	Reason string
	// Names, where not nil, are the only nodes worth asking about.
	Names map[string]struct{}
	// State is handed to Filter and Details.
	State any
}

// Filterer says which nodes are out. It is asked about all of in at once and
// adds to rej the nodes of in that fail.
type Filterer interface {
	Rule
	Filter(q *Query, state any, in Bits, rej *Rejected) error
}

// Scorer gives every feasible node a raw and a normalised score.
type Scorer interface {
	Rule
	Score(q *Query, feasible Bits, out *Scores) error
}

// ReasonRanker orders the reasons of a rule that may give a node several, where
// verdicts of several passes are put together. Reasons of one rank go by text.
type ReasonRanker interface {
	Rule
	ReasonRank(text string) int
}

// Detailer explains a rejected node with structure instead of words.
type Detailer interface {
	Rule
	Details(q *Query, state any, row int) []Detail
}

// Spreader gives the ledger of topology spread.
type Spreader interface {
	Rule
	Spread(q *Query) []SpreadConstraint
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
	Nodes, Unresolvable Bits
	// Reasons say why; a node may have several.
	Reasons []Reason
}

// Reason is one of a rule's reasons and the nodes that it holds for.
type Reason struct {
	Text  string
	Nodes Bits
}

// Add rejects nodes for a reason. It keeps the set, which therefore must not be
// written afterwards.
func (r *Rejected) Add(text string, code Code, nodes Bits) {
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
}

// Skip says that the rule has no opinion on this pod.
func (s *Scores) Skip() { s.skip = true }

// Uniform gives all feasible nodes one score.
func (s *Scores) Uniform(raw, norm int64) { s.uniform, s.raw, s.norm = true, raw, norm }

// Same says that the normalised scores are the raw ones.
func (s *Scores) Same() { s.Norm = s.Raw }

func (s *Scores) at(row int) (raw, norm int64) {
	if s.uniform {
		return s.raw, s.norm
	}
	return s.Raw[row], s.Norm[row]
}

// MaxScore is the best normalised score.
const MaxScore = 100

// NormalizeByMax maps raw scores to 0..100 in proportion to the largest, the
// other way round if reverse, truncating as upstream does
// (plugins/helper/normalize_score.go DefaultNormalizeScore).
func NormalizeByMax(feasible Bits, out *Scores, reverse bool) {
	var most int64
	for i, word := range feasible {
		for ; word != 0; word &= word - 1 {
			most = max(most, out.Raw[i<<leafBits+bits.TrailingZeros64(word)])
		}
	}
	one := func(raw int64) int64 {
		var n int64
		if most > 0 {
			n = MaxScore * raw / most
		}
		if reverse {
			n = MaxScore - n
		}
		return n
	}
	if most >= maxKnown {
		feasible.Each(func(row int) { out.Norm[row] = one(out.Raw[row]) })
		return
	}
	// Raw scores are few and small, so each is divided once.
	var known [maxKnown]int64
	for raw := range most + 1 {
		known[raw] = one(raw)
	}
	for i, word := range feasible {
		for ; word != 0; word &= word - 1 {
			row := i<<leafBits + bits.TrailingZeros64(word)
			out.Norm[row] = known[out.Raw[row]]
		}
	}
}

// maxKnown is up to which raw score normalised ones are looked up.
const maxKnown = 512

// Profile is a scheduler's configuration, ready for decisions. Rules holds
// every rule in use; the phases refer to it by index, in the order that they
// run in.
type Profile struct {
	Name    string // the schedulerName that pods ask for
	Digest  string // sha256:… over Payload
	Payload []byte // the configuration in canonical form, for the record
	// Siblings are the names of all profiles of the configuration.
	Siblings  []string
	Rules     []Rule
	PreFilter []int
	Filter    []int
	Score     []WeightedRule
	// Gates says that pods with scheduling gates wait (SchedulingGates).
	Gates bool
	// Preemption says that DefaultPreemption is on. PostFilter names the plugins
	// of that phase in order, since each adds to the message.
	Preemption bool
	PostFilter []string
}

// WeightedRule is a scoring rule and what its scores are multiplied with.
type WeightedRule struct {
	Rule   int
	Weight int64
}

// ruleNamed finds a rule's index; -1 without.
func (p *Profile) ruleNamed(name string) int {
	for i, r := range p.Rules {
		if r.Name() == name {
			return i
		}
	}
	return -1
}
