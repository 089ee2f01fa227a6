package recall_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// TestDigestsFollowTheScores compares digests of remembered scores with those of scores made
// anew, while pods are bound, on more nodes than a block of hashed scores has.
func TestDigestsFollowTheScores(t *testing.T) {
	t.Parallel()
	for _, shuffled := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		objects := enginetest.Large(enginetest.Size{Nodes: 4300, Pods: 3000, Apps: 50})
		if shuffled {
			r.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		}
		base := enginetest.Fresh(t, objects...)
		for _, q := range enginetest.Questions() {
			f, s := newFollows(t, 0), base
			var err error
			if f.p, err = rules.Build(q.Spec); err != nil {
				t.Fatal(err)
			}
			of := func(decide enginetest.DecideFunc) string {
				t.Helper()
				res, err := decide(s, q.Pod, f.p, engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer res.Release()
				return digest.Of(res)
			}
			for i := range 12 {
				if want, got := of(engine.Decide), of(f.d.Decide); want != got {
					t.Fatalf("%s, shuffled %t, after %d binds: %s, by a Decider %s", q.Name, shuffled, i, want, got)
				}
				s = f.bind(s, enginetest.LargePod(r.IntN(50), fmt.Sprint("bound-", i)), s.Nodes().Node(r.IntN(s.Nodes().Len())).Name)
			}
			// A column of a byte a node at least.
			if c := f.d.Counters(); c.Kept < 11 || f.d.Bytes() < 4300 {
				t.Errorf("%s: %+v, %d bytes", q.Name, c, f.d.Bytes())
			}
		}
	}
}
