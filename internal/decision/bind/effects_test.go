package bind_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/postgres"
	et "berth/test/enginetest"
	"berth/test/logtest"
	"berth/test/pgtest"
)

// kept makes what an upload would make of an object.
func kept(t testing.TB, v any) object.Object {
	t.Helper()
	js, err := object.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return logtest.Object(t, string(js))
}

// uploadTo uploads objects, nodes n1 and n2 beside them.
func uploadTo(t testing.TB, l *logtest.Fixture, list ...any) {
	t.Helper()
	_, _, err := l.Manager.Upload(t.Context(), "default", func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range []object.Object{logtest.Node(t, "n1", 64), logtest.Node(t, "n2", 64)} {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		for _, v := range list {
			if err := yield(kept(t, v)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func bindNext(t testing.TB, l *logtest.Fixture, p *corev1.Pod) *decision.Answer {
	t.Helper()
	a, err := l.Decide(t.Context(), decision.Question{Pod: kept(t, p).Value.(*corev1.Pod), Bind: true, NoPreemption: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newestOf(t testing.TB, l *logtest.Fixture) *revision.View {
	t.Helper()
	v, err := l.Manager.View(t.Context(), "default", 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// replaysSame replays every record of the log, one by one and as a batch.
func replaysSame(t testing.TB, l *logtest.Fixture) {
	t.Helper()
	list, err := l.Store.ListDecisions(t.Context(), store.DecisionFilter{Limit: 1000})
	if err != nil || len(list) == 0 {
		t.Fatalf("%d records, %v", len(list), err)
	}
	slices.SortFunc(list, func(a, b *store.Decision) int { return int(a.Revision - b.Revision) })
	b, reader := l.NewBatch("default", record.Overrides{}), record.NewReader()
	for _, row := range list {
		r, err := l.Replay(t.Context(), row.ID, record.Overrides{})
		if err != nil || !r.Identical {
			t.Errorf("%s of %s: replay %+v, %v", row.Verb, row.Pod, r, err)
		}
		g, err := l.Get(t.Context(), row.ID)
		if err != nil || !g.DigestAgrees {
			t.Errorf("%s of %s: %+v, %v", row.Verb, row.Pod, g, err)
		}
		d, err := l.Store.Decision(t.Context(), row.ID)
		if err != nil {
			t.Fatal(err)
		}
		out, err := b.Replay(t.Context(), reader.Read(d))
		if err != nil || !out.Identical {
			t.Errorf("%s of %s: in a batch %+v, %v", row.Verb, row.Pod, out.Difference, err)
		}
	}
	if err := b.Verify(); err != nil {
		t.Error(err)
	}
}

func gpus() []any {
	return []any{
		et.DeviceClass("gpu"), et.Slice("n1", "n1", et.Device("d0"), et.Device("d1")),
		et.DeviceClaim("a", et.Wants("r", "gpu", 1)), et.DeviceClaim("b", et.Wants("r", "gpu", 1)), et.DeviceClaim("c", et.Wants("r", "gpu", 1)),
	}
}

// TestBindWritesDevices: of two decisions in a row each gets a device of its
// own, the third finds none, and a claim that is shared is reserved once more.
func TestBindWritesDevices(t *testing.T) {
	dir := t.TempDir()
	h := logtest.Open(t, dir)
	uploadTo(t, h, gpus()...)
	device := func(name string) []decision.BoundDevice {
		return []decision.BoundDevice{{Request: "r", Driver: et.Driver, Pool: "n1", Device: name}}
	}
	first := bindNext(t, h, et.Pod("one", et.Claims("a")))
	if d := cmp.Diff(&decision.BoundEffects{ResourceClaims: []decision.BoundClaim{{Name: "a", Devices: device("d0")}}}, first.BoundEffects); d != "" || first.Node != "n1" || first.BoundSnapshot != "default@2" {
		t.Errorf("first, on %s in %s (-want +got):\n%s", first.Node, first.BoundSnapshot, d)
	}
	second := bindNext(t, h, et.Pod("two", et.Claims("b")))
	if d := cmp.Diff(&decision.BoundEffects{ResourceClaims: []decision.BoundClaim{{Name: "b", Devices: device("d1")}}}, second.BoundEffects); d != "" {
		t.Errorf("second (-want +got):\n%s", d)
	}
	third := bindNext(t, h, et.Pod("three", et.Claims("c")))
	if want := "0/2 nodes are available: 2 cannot allocate all claims."; !strings.HasPrefix(third.Message, want) || third.BoundEffects != nil || third.BoundSnapshot != "" {
		t.Errorf("third: %q, %+v", third.Message, third.BoundEffects)
	}
	shared := bindNext(t, h, et.Pod("four", et.Claims("a")))
	if d := cmp.Diff(&decision.BoundEffects{ResourceClaims: []decision.BoundClaim{{Name: "a"}}}, shared.BoundEffects); d != "" || shared.Node != "n1" {
		t.Errorf("shared, on %s (-want +got):\n%s", shared.Node, d)
	}
	v := newestOf(t, h)
	c := v.State.ResourceClaim("default", "a")
	if by := c.Status.ReservedFor; len(by) != 2 || by[0].Name != "one" || by[1].Name != "four" || by[1].Resource != "pods" || by[1].UID == "" {
		t.Errorf("reserved for %v", by)
	}
	if c.Status.Allocation == nil {
		t.Fatal("the claim has no devices")
	}
	if sel := c.Status.Allocation.NodeSelector; sel == nil || sel.NodeSelectorTerms[0].MatchFields[0].Values[0] != "n1" || c.Status.Allocation.AllocationTimestamp.Unix() != first.CreatedAt.Unix() {
		t.Errorf("allocation %+v", c.Status.Allocation)
	}
	if plain := bindNext(t, h, et.Pod("plain")); plain.BoundEffects != nil {
		t.Errorf("a pod without claims: %+v", plain.BoundEffects)
	}
	want := newestOf(t, h).Digest
	replaysSame(t, h)

	// A restart finds the same, and goes on from there.
	h.End()
	again := logtest.Open(t, dir)
	if got := newestOf(t, again); got.Digest != want {
		t.Errorf("after a restart %s, before it %s", got.Digest, want)
	}
	if a := bindNext(t, again, et.Pod("five", et.Claims("c"))); a.Outcome != "Unschedulable" {
		t.Errorf("after a restart the third is on %s", a.Node)
	}
	replaysSame(t, again)
}

// TestBindWritesVolumes: volumes that are there go to one claim each, and
// where one has to be made, the node is chosen for good.
func TestBindWritesVolumes(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	on := et.ReachableFrom(corev1.LabelHostname, "n2")
	uploadTo(t, h, et.Class("local", "kubernetes.io/no-provisioner"), et.Class("made", "csi.example.com"),
		et.Volume("v1", "local", "1Gi", on), et.Volume("v2", "local", "2Gi", on), et.Volume("mine", "local", "5Gi", on, et.ReservedFor("meant")),
		et.Claim("a", "local", "1Gi"), et.Claim("b", "local", "1Gi"), et.Claim("c", "local", "1Gi"), et.Claim("meant", "local", "1Gi"), et.Claim("new", "made", "1Gi"))
	bound := func(claim, volume string) *decision.BoundEffects {
		return &decision.BoundEffects{VolumeClaims: []decision.BoundVolumeClaim{{Claim: claim, Volume: volume}}}
	}
	for _, c := range []struct{ claim, volume string }{{"a", "v1"}, {"b", "v2"}, {"meant", "mine"}} {
		a := bindNext(t, h, et.Pod("p-"+c.claim, et.Mounts(c.claim)))
		if d := cmp.Diff(bound(c.claim, c.volume), a.BoundEffects); d != "" || a.Node != "n2" {
			t.Errorf("%s on %s (-want +got):\n%s", c.claim, a.Node, d)
		}
	}
	last := bindNext(t, h, et.Pod("p-c", et.Mounts("c")))
	if want := "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind."; !strings.HasPrefix(last.Message, want) {
		t.Errorf("nothing left: %q", last.Message)
	}
	st := newestOf(t, h).State
	pv, free, pvc := st.PersistentVolume("v1"), st.PersistentVolume("mine"), st.PersistentVolumeClaim("default", "a")
	if ref := pv.Spec.ClaimRef; ref == nil || ref.Name != "a" || ref.UID != pvc.UID || pv.Status.Phase != corev1.VolumeBound || pv.Annotations["pv.kubernetes.io/bound-by-controller"] != "yes" {
		t.Errorf("volume %+v %+v %v", pv.Spec.ClaimRef, pv.Status, pv.Annotations)
	}
	if _, by := free.Annotations["pv.kubernetes.io/bound-by-controller"]; by || free.Spec.ClaimRef.UID == "" {
		t.Errorf("a volume that was meant for its claim: %+v %v", free.Spec.ClaimRef, free.Annotations)
	}
	if pvc.Spec.VolumeName != "v1" || pvc.Status.Phase != corev1.ClaimBound || len(pvc.Annotations) != 2 {
		t.Errorf("claim %+v %v", pvc.Spec, pvc.Annotations)
	}
	made := bindNext(t, h, et.Pod("p-new", et.Mounts("new")))
	if d := cmp.Diff(&decision.BoundEffects{VolumeClaims: []decision.BoundVolumeClaim{{Claim: "new", SelectedNode: made.Node}}}, made.BoundEffects); d != "" {
		t.Errorf("to be made (-want +got):\n%s", d)
	}
	// A second pod of the claim follows the first one, which leaves nothing to write.
	if other := bindNext(t, h, et.Pod("p-new2", et.Mounts("new"))); other.Node != made.Node || other.BoundEffects != nil {
		t.Errorf("on %s after %s: %+v", other.Node, made.Node, other.BoundEffects)
	}
	replaysSame(t, h)
}

// TestBindOfAnyNodeWritesEffects binds to nodes that no decision chose. Claims get what the node
// has; the others are left alone and named, and the pod is bound all the same.
func TestBindOfAnyNodeWritesEffects(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	list := gpus()
	for name, claims := range map[string]et.PodOption{"one": et.Claims("a"), "two": et.Claims("b"), "three": et.Claims("c"), "lost": et.Mounts("none")} {
		list = append(list, et.Pod(name, claims))
	}
	uploadTo(t, h, append(list, et.Pod("plain"))...)
	told := func(pod, node string) *decision.BoundEffects {
		t.Helper()
		if _, err := h.Bind(t.Context(), "default", "default", pod, "", node); err != nil {
			t.Fatal(err)
		}
		list, err := h.Store.ListDecisions(t.Context(), store.DecisionFilter{Pod: pod, Verb: decision.VerbBind, Limit: 1})
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		r, err := h.Get(t.Context(), list[0].ID)
		if err != nil || r.Outcome != "Scheduled" || r.Node != node {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.BoundEffects
	}
	devices := func(a *decision.BoundEffects) string { return a.ResourceClaims[0].Devices[0].Device }
	one, two := told("one", "n1"), told("two", "n1")
	if devices(one) != "d0" || devices(two) != "d1" {
		t.Errorf("%+v and %+v", one, two)
	}
	three := told("three", "n1")
	if three == nil || len(three.ResourceClaims) != 0 || len(three.Left) != 1 || three.Left[0].Reason != "cannot allocate all claims" {
		t.Errorf("no device left: %+v", three)
	}
	if c := newestOf(t, h).State.ResourceClaim("default", "c"); c.Status.Allocation != nil || c.Status.ReservedFor != nil {
		t.Errorf("half of it is written: %+v", c.Status)
	}
	if lost := told("lost", "n2"); lost == nil || lost.Left[0].Plugin != "VolumeBinding" {
		t.Errorf("a claim that is not there: %+v", lost)
	}
	if plain := told("plain", "n2"); plain != nil {
		t.Errorf("a pod without claims: %+v", plain)
	}
	replaysSame(t, h)
}

// limited sets the limits that extended resources must have.
func limited(p *corev1.Pod) {
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			list[i].Resources.Limits = list[i].Resources.Requests
		}
	}
}

// TestBindMakesTheExtendedClaim: for extended resources behind device classes the
// claim is made, and the pod's status has the request of each container.
func TestBindMakesTheExtendedClaim(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	class := et.DeviceClass("gpu")
	resource := "example.com/gpu"
	class.Spec.ExtendedResourceName = &resource
	uploadTo(t, h, class, et.Slice("n1", "n1", et.Device("d0"), et.Device("d1")))
	a := bindNext(t, h, et.Pod("one", et.Requests(resource, "1"), et.InitContainer(resource, "2"), limited))
	if a.BoundEffects == nil || len(a.BoundEffects.ResourceClaims) != 1 {
		t.Fatalf("%q: %+v", a.Message, a.BoundEffects)
	}
	got := a.BoundEffects.ResourceClaims[0]
	if !got.Created || !strings.HasPrefix(got.Name, "one-extended-resources-") || len(got.Devices) != 2 {
		t.Errorf("%+v", got)
	}
	v := newestOf(t, h)
	c := v.State.ResourceClaim("default", got.Name)
	if c == nil || c.UID == "" || c.OwnerReferences[0].Name != "one" || c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] != "true" || len(c.Status.ReservedFor) != 1 {
		t.Errorf("claim %+v", c)
	}
	pod, err := v.Pod("default", "one")
	if err != nil || pod.Spec.NodeName != "n1" || pod.Status.ExtendedResourceClaimStatus == nil {
		t.Fatalf("%+v, %v", pod, err)
	}
	want := []corev1.ContainerExtendedResourceRequest{
		{ContainerName: pod.Spec.Containers[0].Name, ResourceName: resource, RequestName: "container-1-request-0"},
		{ContainerName: pod.Spec.InitContainers[0].Name, ResourceName: resource, RequestName: "container-1-request-0"},
		{ContainerName: pod.Spec.InitContainers[0].Name, ResourceName: resource, RequestName: "container-0-request-0"},
	}
	if d := cmp.Diff(want, pod.Status.ExtendedResourceClaimStatus.RequestMappings); d != "" {
		t.Errorf("mappings (-want +got):\n%s", d)
	}
	if b := bindNext(t, h, et.Pod("two", et.Requests(resource, "1"), limited)); b.Outcome != "Unschedulable" {
		t.Errorf("both devices are gone, and the second is on %s", b.Node)
	}
	replaysSame(t, h)
}

// TestEffectsOnPostgres: another server finds what one has bound along, and
// gives none of it again.
func TestEffectsOnPostgres(t *testing.T) {
	url := pgtest.URL(t)
	if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	a, b := onShared(t, url), onShared(t, url)
	uploadTo(t, a, gpus()...)
	newestOf(t, b) // b knows the claims as free
	first := bindNext(t, a, et.Pod("one", et.Claims("a")))
	second := bindNext(t, b, et.Pod("two", et.Claims("b")))
	if x, y := first.Devices[0].Device, second.Devices[0].Device; x != "d0" || y != "d1" || second.BoundEffects == nil {
		t.Errorf("devices %s and %s, %+v", x, y, second.BoundEffects)
	}
	replaysSame(t, b)
	if x, y := newestOf(t, a), newestOf(t, b); y.Revision != 3 || x.Revision == y.Revision && x.Digest != y.Digest {
		t.Errorf("%s %s and %s %s", x.ID(), x.Digest, y.ID(), y.Digest)
	}
}

// TestBindOfAClaimThatIsFull: a claim can be reserved for so many pods and no more.
// A decision then binds nothing and is not recorded; a bind by another scheduler
// leaves the claim alone.
func TestBindOfAClaimThatIsFull(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	c := et.Given(et.DeviceClaim("a", et.Wants("r", "gpu", 1)), "n1", "n1/d0")
	for i := range resourcev1.ResourceClaimReservedForMaxSize {
		name := fmt.Sprintf("other%d", i)
		c.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: types.UID(name)})
	}
	p := et.Pod("one", et.Claims("a"))
	uploadTo(t, h, et.DeviceClass("gpu"), et.Slice("n1", "n1", et.Device("d0")), c, p)
	_, err := h.Decide(t.Context(), decision.Question{PodRef: &object.Key{Namespace: "default", Name: "one"}, Bind: true})
	var refused *decision.Error
	if !errors.As(err, &refused) || refused.Kind != decision.Conflict || !strings.Contains(refused.Detail, "reserved for 256 pods") {
		t.Fatalf("%v", err)
	}
	if v := newestOf(t, h); v.Revision != 1 {
		t.Errorf("%s was written", v.ID())
	}
	if _, err := h.Bind(t.Context(), "default", "default", "one", "", "n1"); err != nil {
		t.Fatal(err)
	}
	if v := newestOf(t, h); v.State.Pod("default", "one").NodeName != "n1" || len(v.State.ResourceClaim("default", "a").Status.ReservedFor) != 256 {
		t.Errorf("%+v", v.State.ResourceClaim("default", "a").Status)
	}
	replaysSame(t, h)
}

// TestOldRecordsHaveNoEffects: a record of a time when binds took nothing
// along is replayed as it was.
func TestOldRecordsHaveNoEffects(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	uploadTo(t, h, append(gpus(), et.Pod("one", et.Claims("a")))...)
	began := time.Now()
	v, _, err := h.Manager.Update(t.Context(), "default", 0, func(v *revision.View) (*revision.Step, error) {
		return h.NewLedgerBind(v, "default", "one", "n1", false, began) // as a server bound before
	})
	if err != nil || v.State.ResourceClaim("default", "a").Status.Allocation != nil {
		t.Fatal(err)
	}
	replaysSame(t, h)
}
