package decisionlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/engine/advice"
	"berth/internal/engine/state"
	"berth/internal/objects"
)

// matter is a question made ready for the engine, on one view.
type matter struct {
	q       Question
	view    *cluster.View
	state   *state.State // the view's, or one made from it for this question
	pod     *corev1.Pod  // with its priority, without a node
	asked   []byte       // canonical JSON of the pod as it was asked about
	byRef   bool         // asked is what the view holds
	profile *engine.Profile
	names   []string // candidates; nil: all
	overlay *overlay
	gone    []Gone       // those of the question that the state has
	class   *storedClass // what gave the pod its priority; nil where no stored class did
	boundTo string       // the node that the pod was taken out of; empty: it had none
	along   *along       // what a bind takes along; nil where nothing is bound
	steps   int64        // Options.MaxSteps for a question that is put; 0 for one from a record
}

// prepare makes a question ready. Overlaid gives the view with the question's
// nodes in place of its own.
func (l *Log) prepare(v *cluster.View, q Question, overlaid func(*cluster.View, []*corev1.Node) (*overlay, error)) (*matter, error) {
	c := &matter{q: q, view: v, state: v.State, names: q.NodeNames, steps: l.o.MaxSteps}
	l.admit(c)
	if err := c.findPod(); err != nil {
		return nil, err
	}
	if err := l.settle(c, overlaid); err != nil {
		return nil, err
	}
	return c, nil
}

// settle makes a matter ready whose pod is known.
func (l *Log) settle(c *matter, overlaid func(*cluster.View, []*corev1.Node) (*overlay, error)) error {
	v, q := c.view, &c.q
	if err := c.takeOut(); err != nil {
		return err
	}
	var err error
	extra := q.classes
	if extra == nil {
		extra = l.today(v.Cluster)
	}
	if c.pod, c.class, err = resolvePriority(v.State, c.pod, extra); err != nil {
		return err
	}
	profiles := q.Profiles
	if len(profiles) == 0 {
		profiles = l.profiles
	}
	if c.profile, err = choose(profiles, q.Profile, c.pod.Spec.SchedulerName); err != nil {
		return err
	}
	if q.Nodes != nil {
		if c.names == nil {
			c.names = make([]string, len(q.Nodes))
			for i, n := range q.Nodes {
				c.names[i] = n.Name
			}
		}
		if c.overlay, err = overlaid(v, q.Nodes); err != nil {
			return err
		}
		if c.overlay.state != v.State {
			// The pod may have been taken out: then once more, of the overlaid state.
			c.state = c.overlay.state
			if err := c.takeOut(); err != nil {
				return err
			}
		}
	}
	return nil
}

// knowNames refuses a choice of nodes that the snapshot does not have: a name
// that is misspelt would otherwise read as a node that is full. A replay on
// another snapshot may well miss some, and drops them.
func (c *matter) knowNames() error {
	if c.q.Nodes != nil {
		return nil
	}
	for i, n := range c.names {
		if c.state.Nodes().Row(n) < 0 {
			return bad(http.StatusUnprocessableEntity, fmt.Sprintf("nodeNames[%d]", i), "%s has no node %s", c.view.ID(), n)
		}
	}
	return nil
}

// findPod takes the question's pod, or the snapshot's of the name asked for.
func (c *matter) findPod() error {
	if c.q.PodRef != nil {
		k := *c.q.PodRef
		js, ok := c.view.Object(k)
		if !ok {
			return bad(http.StatusNotFound, "podRef", "%s has no pod %s/%s", c.view.ID(), k.Namespace, k.Name)
		}
		pod, err := c.view.Pod(k.Namespace, k.Name)
		if err != nil {
			return err
		}
		c.pod, c.asked, c.byRef = pod, js, true
		return nil
	}
	c.pod = c.q.Pod
	js, err := objects.Encode(withKind(c.pod))
	if err != nil {
		return bad(http.StatusUnprocessableEntity, "pod", "%v", err)
	}
	c.asked = js
	held, ok := c.view.Object(objects.Key{Kind: "Pod", Namespace: c.pod.Namespace, Name: c.pod.Name})
	c.byRef = ok && string(held) == string(js)
	return nil
}

// withKind spares Encode a deep copy.
func withKind(pod *corev1.Pod) *corev1.Pod {
	if pod.Kind == "Pod" && pod.APIVersion == "v1" {
		return pod
	}
	p := *pod
	p.Kind, p.APIVersion = "Pod", "v1"
	return &p
}

// takeOut sees to it that the pod counts only as the one asked about. A bound
// pod is not decided on, except to see where it would go today.
func (c *matter) takeOut() error {
	held := c.state.Pod(c.pod.Namespace, c.pod.Name)
	isBound := held != nil && held.NodeName != ""
	switch {
	case c.q.DryRun:
	case isBound && c.succeeds(held):
	case isBound:
		return bound(c.view, "pod", held.NodeName, "pod %s/%s is bound to node %s in %s", c.pod.Namespace, c.pod.Name, held.NodeName, c.view.ID())
	case c.pod.Spec.NodeName != "":
		return bound(c.view, "pod.spec.nodeName", c.pod.Spec.NodeName, "the pod is bound to node %s already", c.pod.Spec.NodeName)
	}
	if c.pod.Spec.NodeName != "" {
		free := *c.pod
		free.Spec.NodeName = ""
		c.pod = &free
	}
	// A pending one changes nothing for others unless it is nominated to a node.
	out := c.present(c.q.Gone)
	itself := isBound || held != nil && held.Nominated != ""
	if !itself && len(out) == 0 {
		return nil
	}
	e := c.state.Overlay()
	if isBound && c.q.DryRun {
		c.boundTo = held.NodeName
	}
	if itself {
		e.Delete("Pod", c.pod.Namespace, c.pod.Name)
	}
	for _, g := range out {
		e.Delete("Pod", g.Namespace, g.Name)
	}
	c.state, c.gone = e.Done(), out
	return nil
}

// present leaves of the pods that are not to count those that the state has.
func (c *matter) present(list []Gone) (out []Gone) {
	for _, g := range list {
		if p := c.state.Pod(g.Namespace, g.Name); p != nil && p.UID == g.UID {
			out = append(out, g)
		}
	}
	return out
}

// succeeds says that the extender is asked about a pod of the same name but
// another UID than the one held: an apiserver has only one pod of a name, so the
// one held is gone, and berth only has not heard of it yet.
func (c *matter) succeeds(held *state.Pod) bool {
	if c.q.Verb != VerbFilter && c.q.Verb != VerbPrioritize && c.q.Verb != VerbPreempt {
		return false
	}
	uid := string(c.pod.UID)
	return uid != held.UID && uid != string(objects.DerivedUID(podKey(c.pod.Namespace, c.pod.Name)))
}

// choose finds the profile for a pod: the one wanted, else the one that it
// names, else the first.
func choose(profiles []*engine.Profile, wanted, scheduler string) (*engine.Profile, error) {
	if len(profiles) == 0 {
		return nil, bad(http.StatusUnprocessableEntity, "profile", "the configuration has no profile")
	}
	for _, name := range []string{wanted, scheduler} {
		for _, p := range profiles {
			if name != "" && p.Name == name {
				return p, nil
			}
		}
		if wanted != "" {
			names := make([]string, len(profiles))
			for i, p := range profiles {
				names[i] = p.Name
			}
			return nil, bad(http.StatusUnprocessableEntity, "profile", "there is no profile %q; there are %q", wanted, names)
		}
	}
	return profiles[0], nil
}

// decide asks the engine. The result is to be released.
func (c *matter) decide(ctx context.Context) (*engine.Result, error) {
	return c.decideBy(ctx, engine.Decide)
}

// decideBy is decide by another way to the same answers. Where ctx ends before
// there is one, its error is what comes of it, as of all that wait too long: there
// is nothing to record.
func (c *matter) decideBy(ctx context.Context, decide func(*state.State, *corev1.Pod, *engine.Profile, engine.Options) (*engine.Result, error)) (*engine.Result, error) {
	r, err := decide(c.state, c.pod, c.profile, c.options(ctx))
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return nil, fmt.Errorf("decide: %w", err)
	}
	var over *engine.WorkError
	if errors.As(err, &over) {
		return nil, fmt.Errorf("decide: %w", err)
	}
	if err != nil {
		return nil, bad(http.StatusUnprocessableEntity, "pod", "%v", err)
	}
	return r, nil
}

func (c *matter) options(ctx context.Context) engine.Options {
	equals := ""
	if objects.IsGivenUID(c.pod.UID) { // as before the ledger had the pod, such as in a dry run
		equals = string(objects.DerivedUID(podKey(c.pod.Namespace, c.pod.Name)))
	}
	return engine.Options{
		Context: ctx, MaxSteps: c.steps, EqualsBy: equals,
		Candidates: c.names, Now: c.q.Now, ScoreAlways: c.q.ScoreAlways, NoScores: c.q.Verb == VerbFilter, NoPreemption: c.q.NoPreemption,
		Victims: c.q.Victims,
	}
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// answer writes a result out under the stamps of its record. Where ctx ends meanwhile
// there is no answer instead of one that lacks something.
func (c *matter) answer(ctx context.Context, r *engine.Result, level engine.Explain) (ans Answer, err error) {
	if err := r.Within(ctx, func() { ans = c.write(ctx, r, level) }); err != nil {
		return Answer{}, fmt.Errorf("explain: %w", err)
	}
	return ans, nil
}

func (c *matter) write(ctx context.Context, r *engine.Result, level engine.Explain) Answer {
	ans := Answer{
		Cluster: c.view.Cluster, Snapshot: c.view.ID(), Profile: c.profile.Name,
		Engine: engine.Version, Semantics: engine.Semantics, CreatedAt: c.q.Now, Verb: c.q.Verb,
		Pod: PodRef{c.pod.Namespace, c.pod.Name, string(c.pod.UID)}, Decision: *r.Decision(level),
		ProfileDigest: c.profile.Digest, SnapshotDigest: c.view.Digest, PodDigest: digestOf(c.asked),
	}
	if c.boundTo != "" {
		c.tellBound(&ans)
	}
	if level == engine.ExplainGroups {
		ans.Groups = advice.Groups(r, advice.DefaultSample)
	}
	if c.q.Suggest {
		ans.Suggestions = c.suggest(ctx, r)
	}
	return ans
}

// tellBound says of a pod that is bound what the answer leaves out: the pod itself.
func (c *matter) tellBound(ans *Answer) {
	ans.BoundTo = c.boundTo
	ans.Notes = append(ans.Notes, fmt.Sprintf("pod %s/%s is bound to node %s: it was taken out first, and %s is a candidate like any other; nodeNames without it answers where else the pod could go",
		c.pod.Namespace, c.pod.Name, c.boundTo, c.boundTo))
	nodes := c.state.Nodes()
	row := nodes.Row(c.boundTo)
	if row < 0 {
		return
	}
	for i := range ans.Spread {
		s := &ans.Spread[i]
		value, ok := nodes.Node(row).Labels[s.TopologyKey]
		for k := range s.Domains {
			s.Domains[k].HoldsPod = ok && s.Domains[k].Value == value
		}
	}
}

func podKey(ns, name string) objects.Key { return objects.Key{Kind: "Pod", Namespace: ns, Name: name} }
