package rules_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	et "berth/test/enginetest"
)

// sequence is a random cluster whose pods are bound one after the other.
type sequence struct {
	r    *rand.Rand
	objs []any
	pods []*corev1.Pod
}

func (g *sequence) in(n int) bool { return g.r.IntN(n) == 0 }

func pick[T any](g *sequence, of ...T) T { return of[g.r.IntN(len(of))] }

// newSequence draws few devices and volumes for many claims: some devices are
// shared by capacity, some claims look only, some are of several pods, and volumes
// are of some nodes, of several sizes, or meant for a claim.
func newSequence(seed uint64) *sequence {
	g := &sequence{r: rand.New(rand.NewPCG(seed, 0x62696e64))}
	class := et.DeviceClass("gpu")
	name := "example.com/gpu"
	class.Spec.ExtendedResourceName = &name
	g.objs = []any{class, et.Class("local", "kubernetes.io/no-provisioner"), et.Class("made", "csi.example.com")}
	nodes := []string{"n1", "n2", "n3"}
	for _, n := range nodes {
		g.objs = append(g.objs, et.Node(n, et.NodeLabels(corev1.LabelHostname, n), et.Allocatable("cpu", "64", "memory", "64Gi", "pods", "110")))
		var list []resourcev1.Device
		for i := range g.r.IntN(4) {
			d := et.Device(fmt.Sprintf("d%d", i))
			if g.in(3) {
				d = et.Capacity(d, "10Gi", true)
			}
			list = append(list, d)
		}
		if len(list) > 0 {
			g.objs = append(g.objs, et.Slice(n, n, list...))
		}
	}
	if g.in(2) {
		g.objs = append(g.objs, et.Slice("net", "", et.Device("d0"), et.Capacity(et.Device("d1"), "8Gi", true)))
	}
	for i := range g.r.IntN(6) {
		var opts []et.VolumeOption
		if !g.in(3) {
			opts = append(opts, et.ReachableFrom(corev1.LabelHostname, pick(g, nodes...)))
		}
		if g.in(5) {
			opts = append(opts, et.ReservedFor(fmt.Sprintf("v%d", g.r.IntN(4))))
		}
		g.objs = append(g.objs, et.Volume(fmt.Sprintf("pv%d", i), "local", pick(g, "1Gi", "2Gi", "4Gi"), opts...))
	}
	for i := range 6 {
		c := et.DeviceClaim(fmt.Sprintf("c%d", i), et.Wants("r", "gpu", int64(1+g.r.IntN(2))))
		switch way := g.r.IntN(5); {
		case way == 0:
			yes := true
			c.Spec.Devices.Requests[0].Exactly.AdminAccess = &yes
		case way == 1:
			c.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("3Gi")}}
		case way == 2:
			c.Spec.Devices.Requests[0] = et.FirstOf("r", et.Wants("x", "gpu", 2), et.Wants("y", "gpu", 1))
		}
		g.objs = append(g.objs, c, et.Claim(fmt.Sprintf("v%d", i), pick(g, "local", "local", "made"), pick(g, "1Gi", "2Gi")))
	}
	for i := range 8 {
		var opts []et.PodOption
		if !g.in(3) {
			opts = append(opts, et.Claims(fmt.Sprintf("c%d", g.r.IntN(6))))
		}
		switch way := g.r.IntN(4); {
		case way == 0:
			opts = append(opts, et.Mounts(fmt.Sprintf("v%d", g.r.IntN(6)), fmt.Sprintf("v%d", g.r.IntN(6))))
		case way == 1:
			opts = append(opts, et.Mounts(fmt.Sprintf("v%d", g.r.IntN(6))))
		case way == 2:
			opts = append(opts, et.Requests(name, "1"))
		}
		g.pods = append(g.pods, et.Pod(fmt.Sprintf("p%d", i), opts...))
	}
	return g
}

// write makes the next state of a bind, and the list of its objects.
func (g *sequence) write(t *testing.T, st *state.State, a *engine.Effects, pod *corev1.Pod, node string) *state.State {
	t.Helper()
	e := st.Edit()
	put := func(o any) {
		if err := e.Put(o); err != nil {
			t.Fatal(err)
		}
		g.objs = slices.DeleteFunc(g.objs, func(old any) bool { return fmt.Sprint(et.Key(old)) == fmt.Sprint(et.Key(o)) })
		g.objs = append(g.objs, o)
	}
	for _, c := range a.Claims {
		put(c)
	}
	for _, v := range a.Volumes {
		put(v)
	}
	for _, c := range a.VolumeClaims {
		put(c)
	}
	on := *pod
	on.Spec.NodeName = node
	put(&on)
	return e.Done()
}

// verdicts are what a decision says of each node, in short.
func verdicts(d *engine.Decision) (out []string) {
	for _, n := range d.Nodes {
		out = append(out, fmt.Sprint(n.Name, n.Feasible, n.Reasons))
	}
	slices.Sort(out)
	return append(out, string(d.Outcome))
}

// agrees compares a decision in a sequence of binds with one on a state that is made afresh of the
// same objects, and its volumes with those that upstream's own function finds.
func (g *sequence) agrees(t *testing.T, st *state.State, pod *corev1.Pod, p *engine.Profile) {
	t.Helper()
	o := engine.Options{Now: et.Epoch, NoPreemption: true}
	full := func(st *state.State) *engine.Decision {
		r, err := engine.Decide(st, pod, p, o)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		return explain.Decision(r, engine.ExplainFull)
	}
	fresh, err := et.State(g.objs...)
	if err != nil {
		t.Fatal(err)
	}
	got := full(st)
	if want := full(fresh); want.Digest != got.Digest {
		t.Fatalf("%s is decided otherwise after binds than on the same objects read anew: %q, not %q", pod.Name, verdicts(got), verdicts(want))
	}
	if got.Outcome != engine.Scheduled {
		return
	}
	if diff := cmp.Diff(boundByUpstream(t, g.objs, pod, got.Node), got.Volumes); diff != "" {
		t.Fatalf("volumes of %s (-upstream +engine):\n%s", pod.Name, diff)
	}
}

// devicesOnce says in words which device is given out more often than it may be.
func devicesOnce(st *state.State) (wrong []string) {
	whole := map[string]string{}
	part := map[string]resource.Quantity{}
	shares := map[string]bool{}
	capacity := map[string]resource.Quantity{}
	for _, s := range st.ResourceSlices() {
		for _, d := range s.Spec.Devices {
			capacity[s.Spec.Pool.Name+"/"+d.Name] = d.Capacity["memory"].Value
		}
	}
	for _, c := range st.ResourceClaims() {
		if c.Status.Allocation == nil {
			if len(c.Status.ReservedFor) > 0 {
				wrong = append(wrong, c.Name+" is reserved and has nothing")
			}
			continue
		}
		for _, d := range c.Status.Allocation.Devices.Results {
			id := d.Pool + "/" + d.Device
			switch {
			case d.AdminAccess != nil && *d.AdminAccess:
			case d.ShareID == nil:
				if by, taken := whole[id]; taken {
					wrong = append(wrong, fmt.Sprintf("%s is of %s and of %s", id, by, c.Name))
				}
				whole[id] = c.Name
			default:
				if shares[string(*d.ShareID)] {
					wrong = append(wrong, "two shares have the id "+string(*d.ShareID))
				}
				shares[string(*d.ShareID)] = true
				sum := part[id]
				sum.Add(d.ConsumedCapacity["memory"])
				part[id] = sum
				if sum.Cmp(capacity[id]) > 0 {
					wrong = append(wrong, id+" is given out beyond its capacity")
				}
			}
		}
	}
	for id := range part {
		if by, taken := whole[id]; taken {
			wrong = append(wrong, id+" is shared, and whole of "+by)
		}
	}
	return wrong
}

// volumesOnce says in words which volume or claim is bound twice or by halves.
func volumesOnce(st *state.State, claims int) (wrong []string) {
	of := map[string]string{}
	for i := range claims {
		c := st.PersistentVolumeClaim("default", fmt.Sprintf("v%d", i))
		if c.Spec.VolumeName == "" {
			continue
		}
		if by, taken := of[c.Spec.VolumeName]; taken {
			wrong = append(wrong, fmt.Sprintf("%s is of %s and of %s", c.Spec.VolumeName, by, c.Name))
		}
		of[c.Spec.VolumeName] = c.Name
		if ref := st.PersistentVolume(c.Spec.VolumeName).Spec.ClaimRef; ref == nil || ref.Name != c.Name || ref.UID != c.UID {
			wrong = append(wrong, fmt.Sprintf("%s does not say that it is of %s", c.Spec.VolumeName, c.Name))
		}
	}
	for _, pv := range st.PersistentVolumes() {
		if pv.Status.Phase == corev1.VolumeBound && of[pv.Name] == "" {
			wrong = append(wrong, pv.Name+" is bound to nobody")
		}
	}
	return wrong
}

// TestBoundOneAfterAnother: however many pods are bound in a row, no device and
// no volume is given twice, every claim of a bound pod has what it asked for, and
// binding is the same when it is worked out again.
func TestBoundOneAfterAnother(t *testing.T) {
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	devices, shared, volumes, out := 0, 0, 0, 0
	for seed := range uint64(300) {
		g := newSequence(seed)
		st, err := et.State(g.objs...)
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range g.pods {
			effects := func() (*engine.Effects, string) {
				r, err := engine.Decide(st, pod, p, engine.Options{Now: et.Epoch, NoPreemption: true})
				if err != nil {
					t.Fatalf("seed %d, %s: %v", seed, pod.Name, err)
				}
				defer r.Release()
				a, err := r.Effects()
				if err != nil {
					t.Fatalf("seed %d, %s: %v", seed, pod.Name, err)
				}
				return a, r.Node()
			}
			g.agrees(t, st, pod, p)
			a, node := effects()
			if node == "" {
				out++
				continue
			}
			again, _ := effects()
			settled, err := engine.EffectsOn(st, pod, p, node, et.Epoch)
			if err != nil {
				t.Fatal(err)
			}
			if one, two, three := words(t, a), words(t, again), words(t, settled); one != two || one != three {
				t.Fatalf("seed %d, %s: worked out as\n%s\nthen as\n%s\nand for a node that was chosen before as\n%s", seed, pod.Name, one, two, three)
			}
			st = g.write(t, st, a, pod, node)
			if wrong := append(devicesOnce(st), volumesOnce(st, 6)...); wrong != nil {
				t.Fatalf("seed %d, after %s on %s: %q", seed, pod.Name, node, wrong)
			}
			for _, ref := range pod.Spec.ResourceClaims {
				c := st.ResourceClaim("default", *ref.ResourceClaimName)
				if c.Status.Allocation == nil || c.Status.ReservedFor[len(c.Status.ReservedFor)-1].UID != pod.UID {
					t.Fatalf("seed %d, %s: its claim %s is %+v", seed, pod.Name, c.Name, c.Status)
				}
				if len(c.Status.ReservedFor) > 1 {
					shared++
				}
			}
			for _, v := range pod.Spec.Volumes {
				c := st.PersistentVolumeClaim("default", v.PersistentVolumeClaim.ClaimName)
				if c.Spec.VolumeName == "" && c.Annotations["volume.kubernetes.io/selected-node"] != node {
					t.Fatalf("seed %d, %s: its claim %s is %+v", seed, pod.Name, c.Name, c)
				}
			}
			devices, volumes = devices+len(a.Claims), volumes+len(a.Volumes)
		}
	}
	if devices < 300 || shared < 100 || volumes < 100 || out < 100 {
		t.Errorf("little is tried: %d claims, %d shared, %d volumes, %d pods without a node", devices, shared, volumes, out)
	}
}

// words writes out what is bound along, for comparison.
func words(t *testing.T, a *engine.Effects) string {
	t.Helper()
	js, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(js)
}
