package priorityclass

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/store"
	"berth/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var began = time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.UTC)

// never is longer than any test, so that only Refresh takes things over.
const never = time.Hour

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

func replica(t *testing.T, st store.PriorityClasses, poll time.Duration) *Registry {
	t.Helper()
	r, err := Open(t.Context(), st, Options{Poll: poll, Clock: func() time.Time { return began }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func class(name string, value int32, isDefault bool) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: isDefault}
}

func create(t *testing.T, r *Registry, c *schedulingv1.PriorityClass) *schedulingv1.PriorityClass {
	t.Helper()
	out, err := r.Create(t.Context(), "prod", c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatIsKeptOfAClass(t *testing.T) {
	r := replica(t, openStore(t), never)
	in := class("high", 10, true)
	in.Labels = map[string]string{"team": "a"}
	in.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "n"}
	in.OwnerReferences, in.Finalizers = []metav1.OwnerReference{{Name: "x"}}, []string{"a/b"}
	in.ManagedFields, in.UID, in.Generation = []metav1.ManagedFieldsEntry{{}}, "mine", 9
	out := create(t, r, in)
	if out.UID == "" || out.UID == "mine" || out.Generation != 1 || !out.CreationTimestamp.Time.Equal(began.Truncate(time.Second)) || out.ResourceVersion == "" {
		t.Errorf("metadata %+v", out.ObjectMeta)
	}
	if len(out.Annotations) != 1 || out.Labels["team"] != "a" || out.OwnerReferences != nil || out.Finalizers != nil || out.ManagedFields != nil {
		t.Errorf("metadata %+v", out.ObjectMeta)
	}
	if out.Kind != "PriorityClass" || *out.PreemptionPolicy != "PreemptLowerPriority" || out.Value != 10 {
		t.Errorf("%+v", out)
	}
	if got := r.Class("prod", "high"); got == nil || got.Value != 10 || r.Class("prod", "") != got || r.Class("test", "high") != nil {
		t.Errorf("in memory: %+v", got)
	}
	named := create(t, r, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{GenerateName: "made-"}})
	if len(named.Name) != len("made-")+5 {
		t.Errorf("generated name %q", named.Name)
	}
}

// TestOneDefaultAmongReplicas races replicas that have not heard of each other.
func TestOneDefaultAmongReplicas(t *testing.T) {
	st := openStore(t)
	var registries []*Registry
	for range 6 {
		registries = append(registries, replica(t, st, never))
	}
	var won sync.Map
	var wg sync.WaitGroup
	for i, r := range registries {
		wg.Go(func() {
			name := fmt.Sprint("c", i)
			_, err := r.Create(context.Background(), "prod", class(name, 1, true))
			var forbidden *ForbiddenError
			switch {
			case err == nil:
				won.Store(name, true)
			case !errors.As(err, &forbidden):
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	wg.Wait()
	winners := 0
	won.Range(func(any, any) bool { winners++; return true })
	list, err := registries[0].List(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	defaults := 0
	for _, c := range list.Items {
		if c.GlobalDefault {
			defaults++
		}
	}
	if winners != 1 || defaults != 1 {
		t.Errorf("%d replicas made a default class, %d are there", winners, defaults)
	}
}

func TestReplicasSeeEachOther(t *testing.T) {
	st := openStore(t)
	one, other := replica(t, st, never), replica(t, st, never)
	create(t, one, class("high", 10, true))
	if other.Class("prod", "high") != nil {
		t.Error("seen without being asked for")
	}
	if err := other.Refresh(t.Context()); err != nil || other.Class("prod", "").Value != 10 {
		t.Errorf("after a poll: %v", err)
	}
	if _, err := one.Delete(t.Context(), "prod", "high"); err != nil {
		t.Fatal(err)
	}
	if one.Class("prod", "high") != nil {
		t.Error("a deleted class is still in memory")
	}
	if err := other.Refresh(t.Context()); err != nil || other.Class("prod", "") != nil || other.Class("prod", "high") != nil {
		t.Errorf("after another poll: %v", err)
	}
	follower := replica(t, st, time.Millisecond) // follows by itself
	create(t, one, class("low", 1, false))
	for follower.Class("prod", "low") == nil {
		if t.Context().Err() != nil {
			t.Fatal("never seen")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestUpdate(t *testing.T) {
	st := openStore(t)
	r, other := replica(t, st, never), replica(t, st, never)
	first := create(t, r, class("high", 10, false))
	create(t, r, class("usual", 1, true))
	update := func(r *Registry, name string, change func(*schedulingv1.PriorityClass)) (*schedulingv1.PriorityClass, error) {
		c := first.DeepCopy()
		change(c)
		return r.Update(t.Context(), "prod", name, c)
	}
	second, err := update(other, "high", func(c *schedulingv1.PriorityClass) { c.Description = "new" })
	if err != nil || second.Description != "new" || second.UID != first.UID || second.Generation != 1 || second.ResourceVersion == first.ResourceVersion {
		t.Fatalf("%+v, %v", second, err)
	}
	var conflict *ConflictError
	if _, err := update(r, "high", func(c *schedulingv1.PriorityClass) { c.Description = "newer" }); !errors.As(err, &conflict) || !errors.Is(err, store.ErrConflict) {
		t.Errorf("a stale resourceVersion: %v", err)
	}
	if _, err := update(r, "high", func(c *schedulingv1.PriorityClass) { c.ResourceVersion, c.UID = "", "other" }); !errors.As(err, &conflict) {
		t.Errorf("another UID: %v", err)
	}
	third, err := update(r, "high", func(c *schedulingv1.PriorityClass) { c.ResourceVersion, c.UID = "", "" })
	if err != nil || third.Description != "" || third.UID != first.UID {
		t.Errorf("without a resourceVersion: %+v, %v", third, err)
	}
	var invalid *InvalidError
	if _, err := update(r, "high", func(c *schedulingv1.PriorityClass) { c.ResourceVersion, c.Value = "", 11 }); !errors.As(err, &invalid) {
		t.Errorf("another value: %v", err)
	}
	var forbidden *ForbiddenError
	_, err = update(r, "high", func(c *schedulingv1.PriorityClass) { c.ResourceVersion, c.GlobalDefault = "", true })
	if want := `priorityclasses.scheduling.k8s.io "high" is forbidden: PriorityClass usual is already marked as default. Only one default can exist`; !errors.As(err, &forbidden) || err.Error() != want {
		t.Errorf("a second default: %v", err)
	}
	var mismatch *MismatchError
	if _, err := update(r, "usual", func(*schedulingv1.PriorityClass) {}); !errors.As(err, &mismatch) {
		t.Errorf("another name: %v", err)
	}
	var missing *MissingError
	if _, err := update(r, "gone", func(c *schedulingv1.PriorityClass) { c.Name = "gone" }); !errors.As(err, &missing) {
		t.Errorf("unknown: %v", err)
	}
	// Updates that name no version never get in each other's way.
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			c := class("high", 10, false)
			c.Description = fmt.Sprint(i)
			if _, err := r.Update(context.Background(), "prod", "high", c); err != nil {
				t.Errorf("Update: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestBuiltInClasses(t *testing.T) {
	r := replica(t, openStore(t), never)
	list, err := r.List(t.Context(), "prod")
	if err != nil || len(list.Items) != 2 || list.Items[0].Name != "system-cluster-critical" || list.Items[1].Value != 2000001000 {
		t.Fatalf("%+v, %v", list, err)
	}
	var exists *ExistsError
	if _, err := r.Create(t.Context(), "prod", class("system-cluster-critical", 2000000000, false)); !errors.As(err, &exists) {
		t.Errorf("create: %v", err)
	}
	var forbidden *ForbiddenError
	if _, err := r.Delete(t.Context(), "prod", "system-cluster-critical"); !errors.As(err, &forbidden) {
		t.Errorf("delete: %v", err)
	}
	same := list.Items[0].DeepCopy()
	if _, err := r.Update(t.Context(), "prod", same.Name, same); err != nil {
		t.Errorf("an update that changes nothing: %v", err)
	}
	same.Description = "mine"
	if _, err := r.Update(t.Context(), "prod", same.Name, same); !errors.As(err, &forbidden) {
		t.Errorf("another description: %v", err)
	}
	var invalid *InvalidError
	same.Value = 5
	if _, err := r.Update(t.Context(), "prod", same.Name, same); !errors.As(err, &invalid) {
		t.Errorf("another value: %v", err)
	}
	if r.Class("prod", "system-cluster-critical") != nil {
		t.Error("the built-in classes come after the stored ones, which decisions look up by themselves")
	}
}

// cut is a store that can be away.
type cut struct {
	store.Store
	away bool
}

func (c *cut) PriorityClassVersions(ctx context.Context) (map[string]int64, error) {
	if c.away {
		return nil, store.ErrUnavailable
	}
	return c.Store.PriorityClassVersions(ctx)
}

// TestWithoutTheStore: decisions go on with what is known.
func TestWithoutTheStore(t *testing.T) {
	st := &cut{Store: openStore(t)}
	r := replica(t, st, never)
	create(t, r, class("high", 10, false))
	st.away = true
	if err := r.Refresh(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Refresh: %v", err)
	}
	if c := r.Class("prod", "high"); c == nil || c.Value != 10 {
		t.Errorf("what was known is gone: %v", c)
	}
	if _, err := Open(t.Context(), st, Options{}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Open: %v", err)
	}
}

func TestBound(t *testing.T) {
	r := replica(t, openStore(t), never)
	full := &clusterClasses{byName: map[string]*schedulingv1.PriorityClass{}}
	for i := range maxClasses {
		full.byName[fmt.Sprint(i)] = class(fmt.Sprint(i), 1, false)
	}
	r.byCluster.Store(&map[string]*clusterClasses{"prod": full})
	var bound *FullError
	if _, err := r.Create(t.Context(), "prod", class("one-more", 1, false)); !errors.As(err, &bound) || bound.Max != maxClasses {
		t.Errorf("%v", err)
	}
	if _, err := r.Create(t.Context(), "test", class("another", 1, false)); err != nil {
		t.Errorf("another cluster: %v", err)
	}
}

// swapped is a store in whose place another one comes.
type (
	kept    = store.PriorityClasses
	swapped struct{ kept }
)

// A store that took another one's place has older versions, and none of some clusters.
func TestStoreThatTookAnothersPlace(t *testing.T) {
	old, st := openStore(t), &swapped{}
	st.kept = old
	r := replica(t, st, never)
	create(t, r, class("both", 1, false))
	create(t, r, class("lost", 2, false))
	other := openStore(t)
	create(t, replica(t, other, never), class("both", 7, false))
	st.kept = other
	r.Replaced()
	if c := r.Class("prod", "lost"); c == nil {
		t.Error("a class is gone before the store was read")
	}
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := r.Class("prod", "both"); c == nil || c.Value != 7 || r.Class("prod", "lost") != nil {
		t.Errorf("both is %v, lost %v", c, r.Class("prod", "lost"))
	}
	st.kept = openStore(t)
	r.Replaced()
	if err := r.Refresh(t.Context()); err != nil || r.Class("prod", "both") != nil {
		t.Errorf("both is still there, %v", err)
	}
}
