package main

import (
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// sighting is one thing that happened, or that berth says will: what, to whom and on which node.
type sighting struct {
	what, whom, node string
	at               float64 // seconds since the start
}

// compared are the things that are compared, by berth's names of them.
var compared = strings.Split("created,nominated,bound,ready,unready,leaves,gone,failed,succeeded,nodeNotReady,nodeTainted,rolloutComplete,deadlineExceeded,drainEnds", ",")

// sightings are what was seen of a cluster since the start.
type sightings struct {
	row *course

	mu      sync.Mutex
	start   time.Time // zero: not yet
	list    []sighting
	errs    []error
	last    time.Time          // when a pod changed last
	base    map[types.UID]bool // pods that were there
	sets    map[string]bool    // ReplicaSets that were there, and those without a Deployment
	leaving map[types.UID]bool // pods whose deletion was seen
	late    map[string]bool    // Deployments without progress
	rolling map[string]int64   // generations of updates that are on their way
}

func newSightings(r *course) *sightings {
	return &sightings{row: r, base: map[types.UID]bool{}, sets: map[string]bool{}, leaving: map[types.UID]bool{}, rolling: map[string]int64{}, late: map[string]bool{}}
}

// failed notes that something played could not be done; what is gone meanwhile need not.
func (s *sightings) failed(err error) {
	if err == nil || apierrors.IsNotFound(err) || strings.Contains(err.Error(), "context canceled") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// note is called with mu held.
func (s *sightings) note(what, whom, node string) {
	if !s.start.IsZero() {
		s.list = append(s.list, sighting{what, whom, node, time.Since(s.start).Seconds()})
	}
}

// noted notes what a scenario itself does.
func (s *sightings) noted(what, whom, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(what, whom, node)
}

// pod notes what has changed of a pod; one of the two is nil.
func (s *sightings) pod(old, p *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	is := p
	if p == nil {
		is = old
	}
	if s.start.IsZero() {
		s.base[is.UID] = p != nil
		if o := metav1.GetControllerOfNoCopy(is); o != nil && o.Kind == "ReplicaSet" {
			s.sets[o.Name] = true
		}
	}
	whom, top := s.whom(s.base[is.UID], is.Name, ownerOf(is)), s.workloadOf(is)
	node := s.row.class(is.Spec.NodeName, top)
	leaves := func() {
		if !s.leaving[is.UID] {
			s.leaving[is.UID] = true
			s.note("leaves", whom, node)
		}
	}
	if p == nil {
		leaves()
		s.note("gone", whom, node)
		return
	}
	if old == nil {
		s.note("created", whom, "")
		old = &corev1.Pod{}
	}
	if n := p.Status.NominatedNodeName; n != "" && n != old.Status.NominatedNodeName && p.Spec.NodeName == "" {
		s.note("nominated", whom, s.row.class(n, top))
	}
	if old.Spec.NodeName == "" && node != "" {
		s.note("bound", whom, node)
	}
	over := p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
	switch was, is := isReady(old), isReady(p); {
	case p.DeletionTimestamp != nil:
		leaves()
	case over:
		if old.Status.Phase != p.Status.Phase {
			s.note(strings.ToLower(string(p.Status.Phase)), whom, node)
		}
	case is && !was:
		s.note("ready", whom, node)
	case was && !is:
		s.note("unready", whom, node)
	}
}

// node notes what the control plane says of a node.
func (s *sightings) node(old, n *corev1.Node) {
	if old == nil || n == nil {
		return
	}
	gone := func(n *corev1.Node) bool {
		return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
		})
	}
	tainted := func(n *corev1.Node) bool {
		return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == corev1.TaintNodeUnreachable && t.Effect == corev1.TaintEffectNoExecute
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !gone(old) && gone(n) {
		s.note("nodeNotReady", "", n.Name)
	}
	if !tainted(old) && tainted(n) {
		s.note("nodeTainted", "", n.Name)
	}
}

// workload notes that an update is complete, by the rules of kubectl rollout status
// (k8s.io/kubectl/pkg/polymorphichelpers/rollout_status.go).
func (s *sightings) workload(_, o any) {
	name, complete, late, generation := "", false, false, int64(0)
	switch w := o.(type) {
	case *appsv1.Deployment:
		name, generation = "Deployment/"+w.Name, w.Generation
		late = slices.ContainsFunc(w.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Reason == "ProgressDeadlineExceeded" })
		complete = w.Status.ObservedGeneration >= generation && w.Status.UpdatedReplicas >= *w.Spec.Replicas && w.Status.Replicas == w.Status.UpdatedReplicas && w.Status.AvailableReplicas == w.Status.UpdatedReplicas
	case *appsv1.StatefulSet:
		name, generation = "StatefulSet/"+w.Name, w.Generation
		want := *w.Spec.Replicas
		if r := w.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
			want = max(0, want-*r.Partition)
		}
		complete = w.Status.ObservedGeneration >= generation && w.Status.ReadyReplicas >= *w.Spec.Replicas && w.Status.UpdatedReplicas >= want && w.Status.UpdateRevision != ""
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if late && !s.late[name] {
		s.note("deadlineExceeded", name, "")
	}
	s.late[name] = late
	if g, rolls := s.rolling[name]; rolls && complete && generation >= g {
		delete(s.rolling, name)
		s.note("rolloutComplete", name, "")
	}
}

// rolls notes that a workload of a generation is being updated.
func (s *sightings) rolls(name string, generation int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rolling[name] = generation
}

func ownerOf(p *corev1.Pod) string {
	if o := metav1.GetControllerOfNoCopy(p); o != nil {
		return o.Kind + "/" + o.Name
	}
	return ""
}

// workloadOf is Kind/name of what a person made of which a pod is.
func (s *sightings) workloadOf(p *corev1.Pod) string { return s.row.workload(ownerOf(p)) }

// whom says whom something happens to: pods that were there, those of StatefulSets and those
// without a controller by name, others by their controller, whose name is chance where it is new.
func (s *sightings) whom(base bool, name, owner string) string {
	kind, set, _ := strings.Cut(owner, "/")
	top := s.row.workload(owner)
	switch {
	case top != "" && slices.Contains(s.row.Equal, top):
		return "a pod of " + top
	case base, owner == "", kind == "StatefulSet":
		return name
	case kind == "ReplicaSet" && !s.sets[set]:
		return "a new pod of " + top
	}
	return "another pod of " + owner
}
