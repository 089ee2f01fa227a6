package engine

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// Effects are what kube-scheduler writes beside a pod that it binds, so that no other pod gets the
// same volumes and devices (plugins/dynamicresources and plugins/volumebinding, Reserve and
// PreBind). Objects are complete and new: those that rules read stay as they are. A new object has
// no UID.
type Effects struct {
	// Claims were allocated, or reserved for one more pod.
	Claims []*resourcev1.ResourceClaim
	// VolumeClaims were bound to a volume, or annotated with the node for a new one; Volumes are
	// the bound volumes.
	VolumeClaims []*corev1.PersistentVolumeClaim
	Volumes      []*corev1.PersistentVolume
	// Extended is the pod's status entry for the claim of its extended resources; nil without such
	// a claim.
	Extended *corev1.PodExtendedResourceClaimStatus
	// Left are the rules that could not bind their claims on the node, and why.
	Left []LeftAlone
}

// LeftAlone names a rule whose claims stay as they are, and why.
type LeftAlone struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
}

// Empty reports whether nothing is written beside the pod.
func (a *Effects) Empty() bool {
	return len(a.Claims)+len(a.VolumeClaims)+len(a.Volumes)+len(a.Left) == 0 && a.Extended == nil
}

// PreBinder is a rule that writes objects beside a pod bound to a node that passed its filter. It
// only adds to a; an error means that an apiserver would refuse the change.
type PreBinder[S any] interface {
	Rule
	PreBind(q *Query, state S, row int, a *Effects) error
}

// Effects returns what is written beside the pod on the chosen node, from the PreFilter states of
// the decision itself. It is empty unless the outcome is Scheduled.
func (r *Result) Effects() (*Effects, error) {
	a := &Effects{}
	if r.Row < 0 || r.Outcome != Scheduled {
		return a, nil
	}
	for i, rule := range r.Query.Profile.Rules {
		if rule.PreBind == nil || r.States[i] == nil {
			continue
		}
		if err := rule.PreBind(r.Query, r.States[i], r.Row, a); err != nil {
			return nil, fmt.Errorf("%s: %w", rule.Name, err)
		}
	}
	return a, nil
}

// Volumes lists what the pod's waiting claims would get on the chosen node; nil without a choice or
// without such claims.
func (r *Result) Volumes() []VolumeBinding {
	if r.Row < 0 || r.Outcome != Scheduled {
		return nil
	}
	for i, rule := range r.Query.Profile.Rules {
		if rule.Volumes != nil {
			return rule.Volumes(r.Query, r.States[i], r.Row)
		}
	}
	return nil
}

// Devices lists what the pod's claims would get on the chosen node, claim by
// claim and in the order in which they are found.
func (r *Result) Devices() []AllottedDevice {
	if r.Row < 0 {
		return nil
	}
	for i, rule := range r.Query.Profile.Rules {
		if rule.Devices != nil {
			return rule.Devices(r.Query, r.States[i], r.Row)
		}
	}
	return nil
}

// EffectsOn returns what is written beside a pod that another scheduler put on a node. Only the
// rules with a PreBind run, each by itself, on that node alone. One that cannot satisfy the pod's
// claims leaves them as they are.
func EffectsOn(s *state.State, pod *corev1.Pod, p *Profile, node string, now time.Time) (*Effects, error) {
	a := &Effects{}
	q, err := NewQuery(s, pod, p, Options{Candidates: []string{node}, Now: now})
	if err != nil {
		return nil, err
	}
	defer q.Release()
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
		if why := q.rejects(rule, state, row); why != "" {
			a.Left = append(a.Left, LeftAlone{rule.Name, why})
			continue
		}
		if err := rule.PreBind(q, state, row, a); err != nil {
			a.Left = append(a.Left, LeftAlone{rule.Name, err.Error()})
		}
	}
	return a, nil
}

// rejects returns the reason why a rule rejects a row; empty where it does not.
func (q *Query) rejects(rule *Plugin, state any, row int) string {
	if rule.Filter == nil {
		return ""
	}
	in := q.Bits()
	in.Set(row)
	rej, err := q.FilterBy(rule, state, in)
	if err != nil {
		return err.Error()
	}
	return strings.Join(rej.ReasonsOf(row), ", ")
}
