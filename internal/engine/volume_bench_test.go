package engine_test

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/preempt"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

const benchDriver = "csi.example.com"

// mounted is the large cluster with a limit of eight volumes on every node, four
// pods on each that mount one of their own, each of which is attached as well, and
// a disk that is mounted on one node in fifty.
var mounted = sync.OnceValues(func() ([]any, *state.State) {
	objects, _ := large()
	objects = append([]any{}, objects...)
	on := map[string]int{}
	for i, o := range objects {
		p, ok := o.(*corev1.Pod)
		if !ok || on[p.Spec.NodeName] == 4 {
			continue
		}
		k := on[p.Spec.NodeName]
		on[p.Spec.NodeName]++
		claim := "data-" + p.Name
		p = p.DeepCopy()
		enginetest.Mounts(claim)(p)
		if k == 0 && len(on)%50 == 0 {
			enginetest.MountsVolume(benchDisk)(p)
		}
		objects[i] = p
		objects = append(objects, volumeOf(p.Namespace, claim, p.Spec.NodeName)...)
	}
	for i := range enginetest.FullSize.Nodes {
		objects = append(objects, enginetest.CSINode(fmt.Sprintf("node-%05d", i), benchDriver, 8))
	}
	for i := range 3 {
		objects = append(objects, volumeOf("team-00", fmt.Sprintf("mine-%d", i), "")...)
	}
	s, err := enginetest.State(objects...)
	if err != nil {
		panic(err)
	}
	return objects, s
})

var benchDisk = corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"a", "b"}, RBDPool: "rbd", RBDImage: "image"}}

// volumeOf is a claim with its volume, attached to a node.
func volumeOf(namespace, claim, node string) []any {
	c := enginetest.BoundClaim(claim, "pv-"+claim, corev1.ReadWriteOncePod)
	c.Namespace = namespace
	out := []any{c, enginetest.CSIVolume("pv-"+claim, benchDriver, "handle-"+claim)}
	if node != "" {
		out = append(out, enginetest.Attachment("at-"+claim, benchDriver, "pv-"+claim, node))
	}
	return out
}

func mounting(claims int, opts ...enginetest.PodOption) *corev1.Pod {
	opts = append(opts, enginetest.Tolerate("dedicated", corev1.TolerationOpExists, "", ""))
	for i := range claims {
		opts = append(opts, enginetest.Mounts(fmt.Sprintf("mine-%d", i)))
	}
	return enginetest.LargePod(0, "asked", opts...)
}

func volumeQuestions() []enginetest.Question {
	restrictions, limits := rules.DefaultSpec(), rules.DefaultSpec()
	restrictions.PreFilter, restrictions.Filter, restrictions.Score = []string{"VolumeRestrictions"}, []string{"VolumeRestrictions"}, nil
	limits.PreFilter, limits.Filter, limits.Score = []string{"NodeVolumeLimits"}, []string{"NodeVolumeLimits"}, nil
	return []enginetest.Question{
		{Name: "disk/VolumeRestrictions", Pod: mounting(0, enginetest.MountsVolume(benchDisk)), Spec: restrictions},
		{Name: "claims/VolumeRestrictions", Pod: mounting(3), Spec: restrictions},
		{Name: "claims/NodeVolumeLimits", Pod: mounting(3), Spec: limits},
		{Name: "claims/allRules", Pod: mounting(3), Spec: rules.DefaultSpec()},
		{Name: "none/allRules", Pod: mounting(0), Spec: rules.DefaultSpec()},
	}
}

func BenchmarkDecideVolumes(b *testing.B) {
	for _, q := range volumeQuestions() {
		b.Run(q.Name, func(b *testing.B) {
			_, s := mounted()
			first(b, &q, s)
		})
	}
}

// BenchmarkBindVolumes measures a bind of a pod with a claim, with what nodes hold
// worked out and brought up to date.
func BenchmarkBindVolumes(b *testing.B) {
	_, base := mounted()
	base.Attachments(false)
	s, i := base, 0
	b.ReportAllocs()
	for b.Loop() {
		if i == 2000 {
			s, i = base, 0
		}
		e := s.Edit()
		if err := e.Bind(mounting(1, func(p *corev1.Pod) { p.Name = fmt.Sprintf("bound-%d", i) }), base.Nodes().Node(i*7%5000).Name); err != nil {
			b.Fatal(err)
		}
		s = e.Done()
		i++
	}
}

// BenchmarkAttach measures working out anew what nodes hold, as the first question
// after a change to storage does.
func BenchmarkAttach(b *testing.B) {
	_, base := mounted()
	b.ReportAllocs()
	for b.Loop() {
		e := base.Edit()
		if err := e.Put(enginetest.CSINode("node-00000", benchDriver, 8)); err != nil {
			b.Fatal(err)
		}
		if held := e.Done().Attachments(false).Held(0, 0); held > 8 {
			b.Fatalf("%d volumes on the first row", held)
		}
	}
}

// BenchmarkPreemptVolumes looks for victims for a pod whose volumes no node can
// attach.
func BenchmarkPreemptVolumes(b *testing.B) {
	_, base := mounted()
	e := base.Edit()
	for i := range enginetest.FullSize.Nodes {
		if err := e.Put(enginetest.CSINode(fmt.Sprintf("node-%05d", i), benchDriver, 6)); err != nil {
			b.Fatal(err)
		}
	}
	// The attachments of pods that go stay, so only ones without count.
	for _, o := range func() []any { objects, _ := mounted(); return objects }() {
		if kind, _, name := enginetest.Key(o); kind == "VolumeAttachment" {
			e.Delete(kind, "", name)
		}
	}
	s := e.Done()
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		b.Fatal(err)
	}
	pod := mounting(3, enginetest.Priority(1000))
	b.ReportAllocs()
	for b.Loop() {
		r, err := engine.Decide(s, pod, p, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if n := candidates(r); n < 4500 {
			b.Fatalf("%s, %d candidates: %s", r.Outcome, n, explain.Message(r))
		}
		r.Release()
	}
}

func candidates(r *engine.Result) int {
	all, _ := preempt.CandidateRows(r)
	return all.Count()
}
