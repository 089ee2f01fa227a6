package engine

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// Effects is what kube-scheduler writes beside a pod that it binds, so that nobody
// else is given the same (plugins/dynamicresources and plugins/volumebinding,
// Reserve and PreBind). Objects are whole and new: those that rules read stay as
// they are. A new object has no UID.
type Effects struct {
	// Claims got devices, or were reserved for one more pod.
	Claims []*resourcev1.ResourceClaim
	// VolumeClaims got a volume, or the node that one is to be made for; Volumes
	// are those that they got.
	VolumeClaims []*corev1.PersistentVolumeClaim
	Volumes      []*corev1.PersistentVolume
	// Extended is what the pod's status says of the claim behind its extended
	// resources; nil without such a claim.
	Extended *corev1.PodExtendedResourceClaimStatus
	// Left are the rules that had nothing to give on the node, and why.
	Left []LeftAlone
}

// LeftAlone names a rule whose claims stay as they are, and why.
type LeftAlone struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
}

// Empty says that the pod is all there is to bind.
func (a *Effects) Empty() bool {
	return len(a.Claims)+len(a.VolumeClaims)+len(a.Volumes)+len(a.Left) == 0 && a.Extended == nil
}

// PreBinder is a rule that has something to write beside a pod that goes on a
// node which it let pass. It changes nothing but what it adds to a; an error says
// that an apiserver would refuse it.
type PreBinder[S any] interface {
	Rule
	PreBind(q *Query, state S, row int, a *Effects) error
}

// Effects works out what is written beside the pod on the chosen node, by what the
// decision itself found there. It is empty unless the outcome is Scheduled.
func (r *Result) Effects() (*Effects, error) {
	a := &Effects{}
	if r.Row < 0 || r.Outcome != Scheduled {
		return a, nil
	}
	for i, rule := range r.q.Profile.Rules {
		if rule.PreBind == nil || i >= len(r.states) || r.states[i] == nil {
			continue
		}
		if err := rule.PreBind(r.q, r.states[i], r.Row, a); err != nil {
			return nil, fmt.Errorf("%s: %w", rule.Name, err)
		}
	}
	return a, nil
}

// EffectsOn works out what is written beside a pod that somebody else put on a
// node. Only the rules that have something to write are asked, each by itself,
// about that node alone. One that cannot give what the pod's claims need leaves
// them as they are.
func EffectsOn(s *state.State, pod *corev1.Pod, p *Profile, node string, now time.Time) (*Effects, error) {
	a := &Effects{}
	q, err := newQuery(s, pod, p, Options{Candidates: []string{node}, Now: now})
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	defer release(q)
	row := q.Nodes.Row(node)
	if row < 0 {
		return a, nil
	}
	for _, i := range p.PreFilter {
		rule := p.Rules[i]
		if rule.PreBind == nil || rule.PreFilter == nil {
			continue
		}
		state, res := rule.PreFilter(q)
		switch {
		case res.Skip:
			continue
		case res.Code != Success:
			a.Left = append(a.Left, LeftAlone{rule.Name, res.Reason})
			continue
		}
		if why := q.stands(rule, state, row); why != "" {
			a.Left = append(a.Left, LeftAlone{rule.Name, why})
			continue
		}
		if err := rule.PreBind(q, state, row, a); err != nil {
			a.Left = append(a.Left, LeftAlone{rule.Name, err.Error()})
		}
	}
	return a, nil
}

// stands says why a rule rejects a row; empty where it does not.
func (q *Query) stands(rule *Plugin, state any, row int) string {
	if rule.Filter == nil {
		return ""
	}
	in := q.Bits()
	in.Set(row)
	rej := Rejected{Plugin: rule.Name, Nodes: q.Bits(), Unresolvable: q.Bits()}
	if err := rule.Filter(q, state, in, &rej); err != nil {
		return err.Error()
	}
	return strings.Join(rej.textsOf(row), ", ")
}
