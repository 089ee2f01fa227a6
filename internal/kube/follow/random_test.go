package follow_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// rude is what no apiserver should say.
var rude = []string{
	`null`, `{}`, `[]`, `"pod"`, `{"kind":"Pod","apiVersion":"v1","metadata":null}`, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"nobody"},"spec":{"containers":null}}`,
	`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n0"}}`, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}`,
	`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"shop","name":"big","annotations":{"a":"` + strings.Repeat("x", 5<<20) + `"}}}`,
}

// TestFollowsWhateverHappens plays changes of several kinds at random, in no order
// between the kinds, with binds that are confirmed, refused and lost, over watches
// that lag, break, forget and lie, to servers that come and go. When it is quiet,
// the newest revision is what the apiserver has.
func TestFollowsWhateverHappens(t *testing.T) {
	seeds := 3
	if n, err := strconv.Atoi(os.Getenv("BERTH_FOLLOW_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			followAtRandom(t, uint64(seed))
		})
	}
}

func followAtRandom(t *testing.T, seed uint64) {
	w, r := newWorld(t), rand.New(rand.NewPCG(seed, 7))
	if seed%2 == 1 {
		w.s.Stream(nil)
	}
	type thing struct {
		resource string
		key      object.Key
		obj      metav1.Object
	}
	have := map[object.Key]thing{}
	uid := 0
	w.s.Put(t, "nodes", node("n0"))
	have[object.Key{Kind: "Node", Name: "n0"}] = thing{"nodes", object.Key{Kind: "Node", Name: "n0"}, node("n0")}
	fresh := func(kind, name string) thing {
		uid++
		id := types.UID(fmt.Sprint("uid-", uid))
		labels := map[string]string{"v": fmt.Sprint(r.IntN(4))}
		switch kind {
		case "Node":
			n := node(name)
			n.UID, n.Labels = id, labels
			return thing{"nodes", object.Key{Kind: kind, Name: name}, n}
		case "Pod":
			p := pod(name)
			p.UID, p.Labels = id, labels
			return thing{"pods", object.Key{Kind: kind, Namespace: "shop", Name: name}, p}
		case "PersistentVolume":
			v := &corev1.PersistentVolume{
				TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name, UID: id, Labels: labels},
				Spec: corev1.PersistentVolumeSpec{Capacity: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
			}
			return thing{"persistentvolumes", object.Key{Kind: kind, Name: name}, v}
		default:
			c := &corev1.PersistentVolumeClaim{
				TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: id, Labels: labels},
				Spec: corev1.PersistentVolumeClaimSpec{VolumeName: fmt.Sprint("v", r.IntN(3))},
			}
			return thing{"persistentvolumeclaims", object.Key{Kind: kind, Namespace: "shop", Name: name}, c}
		}
	}
	tell := func(th thing) {
		switch o := th.obj.(type) {
		case *corev1.Node:
			w.s.Put(t, th.resource, o)
		case *corev1.Pod:
			w.s.Put(t, th.resource, o)
		case *corev1.PersistentVolume:
			w.s.Put(t, th.resource, o)
		case *corev1.PersistentVolumeClaim:
			w.s.Put(t, th.resource, o)
		}
		have[th.key] = th
	}
	options := follow.Options{Assumed: 100 * time.Millisecond, Lease: 3 * time.Second}
	_, stop := w.follow("s0", options)
	servers := 1
	w.until("the first state", func() bool { return w.has("Node", "", "n0") })
	kinds := []string{"Node", "Pod", "Pod", "Pod", "PersistentVolume", "PersistentVolumeClaim"}
	for range 200 {
		time.Sleep(time.Duration(r.IntN(6000)) * time.Microsecond) // so that some of it is written between
		kind := kinds[r.IntN(len(kinds))]
		name := strings.ToLower(kind[:1]) + fmt.Sprint(r.IntN(8))
		next := fresh(kind, name)
		held, there := have[next.key]
		switch n := r.IntN(40); {
		case n < 12 && !there:
			tell(next)
		case n < 12: // changed, or its heart beats
			next.obj.SetUID(held.obj.GetUID())
			if p, ok := held.obj.(*corev1.Pod); ok {
				next.obj.(*corev1.Pod).Spec.NodeName = p.Spec.NodeName
			}
			next.obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: fmt.Sprint(n)}})
			tell(next)
		case n < 16 && there && name != "n0": // gone, and most often made again
			w.s.Delete(held.resource, held.key.Namespace, held.key.Name)
			delete(have, held.key)
			if r.IntN(3) > 0 {
				tell(next)
			}
		case n < 24 && there && kind == "Pod": // a bind: on record, and then in the apiserver, or elsewhere, or never
			v := w.newest()
			p, err := v.Pod("shop", name)
			if err != nil || p.Spec.NodeName != "" {
				continue
			}
			_, _, err = w.m.Update(t.Context(), "prod", 0, func(v *revision.View) (*revision.Step, error) {
				now, err := v.Pod("shop", name)
				if err != nil || now.UID != p.UID || now.Spec.NodeName != "" {
					return nil, nil
				}
				return &revision.Step{Bind: &revision.Bind{Pod: now, Node: "n0"}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			live := held.obj.(*corev1.Pod).DeepCopy()
			if where := r.IntN(3); live.Spec.NodeName == "" && where > 0 {
				live.Spec.NodeName = fmt.Sprint("n", where-1)
				if r.IntN(4) == 0 {
					live.Status.Phase = corev1.PodSucceeded
				}
				tell(thing{held.resource, held.key, live})
			}
		case n == 24:
			w.s.Cut()
		case n == 25:
			w.s.Forget()
		case n == 26:
			w.s.Lag(time.Duration(r.IntN(50)) * time.Millisecond)
		case n == 27:
			w.s.Down(true)
		case n == 28:
			w.s.Down(false)
		case n < 31 && there: // told again
			js, err := json.Marshal(held.obj)
			if err != nil {
				t.Fatal(err)
			}
			w.s.Tell(held.resource, "MODIFIED", string(js))
		case n < 33:
			w.s.Tell("pods", []string{"ADDED", "MODIFIED", "BOOKMARK", "DELETED", "ODD"}[r.IntN(5)], rude[r.IntN(len(rude))])
		case n == 33: // another server takes over, in order or not
			old := stop
			_, stop = w.follow(fmt.Sprint("s", servers), options)
			servers++
			old()
		}
	}
	w.s.Down(false)
	w.s.Lag(0)
	w.s.Forget() // what was a lie is gone from the next list
	differs := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(differs)
		}
	})
	w.until("what the apiserver has", func() bool {
		v := w.newest()
		seen := 0
		for range v.All() {
			seen++
		}
		if differs = fmt.Sprintf("%d objects, want %d", seen, len(have)); seen != len(have) {
			return false
		}
		for k, th := range have {
			js, err := json.Marshal(th.obj)
			if err != nil {
				t.Fatal(err)
			}
			o, err := object.Decode(js, object.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := v.Object(k); !ok || string(got) != string(o.JSON) {
				differs = fmt.Sprintf("%s %s is\n%s\nwant\n%s", k.Kind, k.Name, got, o.JSON)
				return false
			}
		}
		return true
	})
	t.Logf("%s after %d servers", w.newest().ID(), servers)
}
