package decision

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/footprint"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/memory"
)

// Outcome is an evaluated question. It is to be released.
type Outcome struct {
	*Prepared
	Result *engine.Result
	// Bound are the effects of the bind; nil unless the question binds.
	Bound *Effects

	working *memory.Claim // for the result; nil without a bound
}

// Engine decides on a state: engine.Decide, or a faster way to the same answers.
type Engine func(*state.State, *corev1.Pod, *engine.Profile, engine.Options) (*engine.Result, error)

// Engine returns what decides the question: questions under the server's own profiles share what
// the view caches.
func (p *Prepared) Engine() Engine {
	if p.ours {
		return p.View.Decide
	}
	return engine.Decide
}

// Decide evaluates the question. Where ctx ends before there is an outcome, its error is returned,
// and there is nothing to record.
func (p *Prepared) Decide(ctx context.Context, decide Engine) (*Outcome, error) {
	o := &Outcome{Prepared: p}
	opts := p.options(ctx)
	if o.working = memory.Part(ctx); o.working != nil {
		if err := o.working.Take(ctx, footprint.Decision(p.State, p.Pod, p.Profile, opts)); err != nil {
			return nil, fmt.Errorf("decide: %w", err)
		}
	}
	r, err := decide(p.State, p.Pod, p.Profile, opts)
	if err != nil {
		o.free()
	}
	if err := EngineError(ctx, err); err != nil {
		return nil, err
	}
	o.Result = r
	if p.Bind {
		if err := o.checkBind(); err != nil {
			o.Release()
			return nil, err
		}
	}
	return o, nil
}

// EngineError words the error of a decision: the context's own, a bound on work that was reached,
// or an Error about the pod.
func EngineError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	ended := ctx.Err()
	var over *engine.WorkError
	switch {
	case ended != nil && errors.Is(err, ended), errors.As(err, &over):
		return fmt.Errorf("decide: %w", err)
	}
	return Errorf(Invalid, "pod", "%v", err)
}

// Release ends the use of the result.
func (o *Outcome) Release() {
	o.Result.Release()
	o.free()
}

func (o *Outcome) free() {
	if o.working != nil {
		o.working.End()
	}
}

// EqualsBy returns what chooses among equal nodes for a pod whose UID the ledger gave: as before
// the ledger had the pod, such as in a dry run. It is empty for other pods.
func EqualsBy(pod *corev1.Pod) string {
	if !object.IsGivenUID(pod.UID) {
		return ""
	}
	return string(object.DerivedUID(podKey(pod.Namespace, pod.Name)))
}

func (p *Prepared) options(ctx context.Context) engine.Options {
	return engine.Options{
		Context: ctx, MaxSteps: p.steps, EqualsBy: EqualsBy(p.Pod),
		Candidates: p.Candidates, Now: p.Now, ScoreAlways: p.ScoreAlways, NoScores: p.Verb == VerbFilter, NoPreemption: p.NoPreemption,
		Victims: p.Victims,
	}
}

// Effects works out what a bind of the outcome writes beside the pod.
func (o *Outcome) Effects() (*Effects, error) {
	a, err := o.Result.Effects()
	if err != nil {
		return nil, err
	}
	return MakeEffects(o.View.State.ResourceClaim, o.View.Object, a)
}

// suggestFactor is what the changed pods of suggestions take, in bytes a byte of the pod.
const suggestFactor = 512

// Answer writes the outcome out, without what a record adds. Where ctx ends meanwhile there is no
// answer instead of one that lacks something.
func (o *Outcome) Answer(ctx context.Context, level engine.Explain) (ans *Answer, err error) {
	need := footprint.Explanation(o.Result, level)
	if o.Suggest { // one decision after the other
		need += footprint.Decision(o.State, o.Pod, o.Profile, o.options(ctx)) + suggestFactor*int64(len(o.PodJSON))
	}
	need += o.replacing(ctx)
	if err := memory.Take(ctx, need); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if err := o.Result.Within(ctx, func() { ans = o.write(ctx, level) }); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return ans, nil
}

func (o *Outcome) write(ctx context.Context, level engine.Explain) *Answer {
	var d *engine.Decision
	var encoded *explain.Encoded
	if o.Encoded && o.boundTo == "" && o.Result.Outcome != engine.Preempting { // else the table of spreading and victims are others
		d, encoded = explain.Encode(o.Result, level)
	}
	if encoded == nil {
		d = explain.Decision(o.Result, level)
		startsWithin(d.Preemption)
	}
	if o.replaces() {
		d.Preemption = o.replacements(ctx, d.Preemption)
	}
	ans := &Answer{
		Cluster: o.View.Cluster, Snapshot: o.View.ID(), Profile: o.Profile.Name, ProfileFallback: o.Fallback,
		Engine: engine.Version, Semantics: o.Profile.Semantics.Stamp(), CreatedAt: o.Now, Verb: o.Verb,
		Pod: PodRef{o.Pod.Namespace, o.Pod.Name, string(o.Pod.UID)}, Decision: *d, encoded: encoded,
		ProfileDigest: o.Profile.Digest, SnapshotDigest: o.View.Digest, PodDigest: o.PodDigest(),
	}
	if o.boundTo != "" {
		o.noteBound(ans)
	}
	o.noteUnready(ans)
	if note := RuntimeNote(o.View, UnappliedClass(o.Pod)); note != "" {
		ans.Notes = append(ans.Notes, note)
	}
	o.noteAdmission(ans, level)
	if level != engine.ExplainNone {
		ans.Notes = append(ans.Notes, o.valueNotes()...)
		if o.Result.Outcome == engine.Scheduled {
			ans.Notes = append(ans.Notes, o.storageNotes(o.Result.Node())...)
		}
	}
	if level == engine.ExplainGroups {
		ans.Groups, ans.Narrowed = suggest.NamedGroups(o.Result, suggest.DefaultSample)
	}
	if level == engine.ExplainAll {
		explain.AddParts(o.Result, &ans.Decision, o.ExplainNode)
	}
	if o.Suggest {
		ans.Suggestions = o.suggest(ctx)
	}
	if o.Bound != nil {
		ans.BoundEffects = o.Bound.Summary
	}
	return ans
}

// noteBound notes that a bound pod was taken out of the state before it was decided on.
func (o *Outcome) noteBound(ans *Answer) {
	ans.BoundTo = o.boundTo
	ans.Notes = append(ans.Notes, fmt.Sprintf("pod %s/%s is bound to node %s: it was taken out first, and %s is a candidate like any other; nodeNames without it answers where else the pod could go",
		o.Pod.Namespace, o.Pod.Name, o.boundTo, o.boundTo))
	nodes := o.State.Nodes()
	row := nodes.Row(o.boundTo)
	if row < 0 {
		return
	}
	ans.Spread = slices.Clone(ans.Spread)
	for i := range ans.Spread {
		s := &ans.Spread[i]
		s.Domains = slices.Clone(s.Domains)
		value, ok := nodes.Node(row).Labels[s.TopologyKey]
		for k := range s.Domains {
			s.Domains[k].HoldsPod = ok && s.Domains[k].Value == value
		}
	}
}

// UnreadyNote is what is to be known of a node that is not Ready and has no taint for it.
func UnreadyNote(node string) string {
	return fmt.Sprintf("node %s is not Ready by its condition and has no taint for it: no rule reads conditions, so it takes pods as any other, and its kubelet may not start them", node)
}

// noteUnready notes that the node of the answer does not report.
func (o *Outcome) noteUnready(ans *Answer) {
	name := cmp.Or(ans.Node, ans.NominatedNode)
	nodes := o.State.Nodes()
	if row := nodes.Row(name); name != "" && row >= 0 && nodes.Node(row).Unannounced {
		ans.Notes = append(ans.Notes, UnreadyNote(name))
	}
}

// PodDigest returns the digest of the question's pod.
func (p *Prepared) PodDigest() string {
	if p.podDigest == "" {
		p.podDigest = DigestOf(p.PodJSON)
	}
	return p.podDigest
}

// DigestOf returns the digest of bytes as records have it.
func DigestOf(b []byte) string {
	const prefix = "sha256:"
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(append(make([]byte, 0, len(prefix)+2*len(sum)), prefix...), sum[:]))
}
