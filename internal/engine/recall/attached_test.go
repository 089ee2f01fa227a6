package recall_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// TestAttachmentsFollowPods binds, deletes and moves pods one edit at a time, asked
// for a pod with volumes in between, so that what nodes hold is brought up to date
// and not worked out anew. The answers are those of a state made from scratch, and
// those of states left behind stay.
func TestAttachmentsFollowPods(t *testing.T) {
	t.Parallel()
	const driver = "csi.example.com"
	spec := rules.DefaultSpec()
	spec.PreFilter, spec.Filter, spec.PostFilter, spec.Score = []string{"NodeVolumeLimits"}, []string{"NodeVolumeLimits"}, nil, nil
	p, err := rules.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	asked := enginetest.Pod("asked", enginetest.Mounts("claim0"), enginetest.Mounts("claim1"))
	refused := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		name := func(kind string, n int) string { return fmt.Sprintf("%s%d", kind, r.IntN(n)) }
		var objects []any
		for i := range 6 {
			objects = append(
				objects, enginetest.Node(fmt.Sprintf("n%d", i)), enginetest.CSINode(fmt.Sprintf("n%d", i), driver, int32(r.IntN(4))-1),
				enginetest.CSIVolume(fmt.Sprintf("pv%d", i), driver, name("handle", 4)), enginetest.BoundClaim(fmt.Sprintf("claim%d", i), name("pv", 7)),
				enginetest.Attachment(fmt.Sprintf("at%d", i), driver, name("pv", 6), name("n", 6)),
			)
		}
		x := newTrio(t, p, objects...)
		pods := map[string]any{}
		var states []*state.State
		var answers []string
		for range 60 {
			pod := enginetest.Pod(name("p", 12), enginetest.On(name("n", 7)), enginetest.Mounts(name("claim", 7)), enginetest.Mounts(name("claim", 7)))
			if r.IntN(5) == 0 {
				delete(pods, pod.Name)
				x.remove("Pod", "default", pod.Name)
			} else {
				pods[pod.Name] = pod
				x.put(pod)
			}
			got := x.ask(asked)
			states, answers = append(states, x.s), append(answers, got)
			all := slices.Clone(objects)
			for _, o := range pods {
				all = append(all, o)
			}
			if diff := cmp.Diff(enginetest.Everything(t, engine.Decide, enginetest.Fresh(t, all...), asked, p, engine.Options{}), got); diff != "" {
				t.Fatalf("seed %d (-fresh +by edits):\n%s", seed, diff)
			}
			refused += strings.Count(got, rules.ReasonVolumeLimit)
		}
		for i, s := range states {
			if diff := cmp.Diff(answers[i], enginetest.Everything(t, engine.Decide, s, asked, p, engine.Options{})); diff != "" {
				t.Fatalf("seed %d: state %d changed (-before +after):\n%s", seed, i, diff)
			}
		}
	}
	if refused < 200 {
		t.Errorf("only %d times was a node full", refused)
	}
}

// TestAttachmentsFollowObjects changes what claims stand for, with the pods as they
// are.
func TestAttachmentsFollowObjects(t *testing.T) {
	const driver = "csi.example.com"
	p, err := rules.Build(enginetest.Only("NodeVolumeLimits"))
	if err != nil {
		t.Fatal(err)
	}
	x := newTrio(t, p,
		enginetest.Node("n"), enginetest.CSINode("n", driver, 1), enginetest.CSIVolume("pv0", driver, "a"), enginetest.CSIVolume("pv1", driver, "b"),
		enginetest.BoundClaim("mine", "pv0"), enginetest.BoundClaim("theirs", "pv0"), enginetest.Pod("there", enginetest.On("n"), enginetest.Mounts("theirs")))
	asked := enginetest.Pod("asked", enginetest.Mounts("mine"))
	x.changesAnswer("another volume for the claim", asked, func() { x.put(enginetest.BoundClaim("theirs", "pv1")) })
	x.changesAnswer("a higher limit", asked, func() { x.put(enginetest.CSINode("n", driver, 2)) })
	x.changesAnswer("an attachment", asked, func() {
		x.put(enginetest.CSIVolume("pv2", driver, "c"))
		x.put(enginetest.Attachment("at", driver, "pv2", "n"))
	})
	x.changesAnswer("which goes", asked, func() { x.remove("VolumeAttachment", "", "at") })
	x.changesAnswer("the lower limit again", asked, func() { x.put(enginetest.CSINode("n", driver, 1)) })
	x.changesAnswer("the same handle again", asked, func() { x.put(enginetest.CSIVolume("pv1", driver, "a")) })
	x.changesAnswer("no limit for the driver", asked, func() { x.put(enginetest.CSIVolume("pv1", driver, "b")) })
	x.changesAnswer("no CSINode", asked, func() { x.remove("CSINode", "", "n") })
	x.changesAnswer("no claim", asked, func() { x.remove("PersistentVolumeClaim", "default", "mine") })
}
