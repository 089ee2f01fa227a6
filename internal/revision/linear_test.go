package revision

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"

	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/postgres"
)

// ledger is the model: how many revisions there are, which pod is where, and what became of holds.
type ledger struct {
	newest int64
	on     [freePods]byte // 0: free, else 1 + the node
	holds  [freePods]byte // 0: never held, else held, committed or released
}

const (
	isHeld byte = 1 + iota
	isCommitted
	isReleased
)

const freePods = 48

type asked struct {
	what string // read, change, bind, hold, commit, release
	// parent of a change, 0: whatever is the newest; the pod and the node of a bind; the pod of a
	// hold, which each pod has once.
	parent    int64
	pod, node int
}

type told struct {
	what   string // ok, conflict, already, refused, unknown
	newest int64
}

// ledgerModel describes which answers are possible. A caller without an answer may have written or
// not, now or later.
var ledgerModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{ledger{newest: 2}} },
	Step: func(state, in, out any) []any {
		l, a, o := state.(ledger), in.(asked), out.(told)
		if a.what == "read" {
			if o.what == "unknown" || o.newest == l.newest {
				return []any{l}
			}
			return nil
		}
		next := l
		next.newest++
		does, otherwise := true, ""
		switch a.what {
		case "change":
			does, otherwise = a.parent == 0 || a.parent == l.newest, "conflict"
		case "bind":
			does, otherwise = l.on[a.pod] == 0, "refused"
			if l.on[a.pod] == byte(1+a.node) {
				otherwise = "already"
			}
			next.on[a.pod] = byte(1 + a.node)
		case "hold":
			does, otherwise = l.holds[a.pod] == 0, "refused"
			next.holds[a.pod] = isHeld
		case "commit", "release":
			does, otherwise, next.holds[a.pod] = l.holds[a.pod] == isHeld, "refused", isCommitted
			if a.what == "release" {
				next.holds[a.pod] = isReleased
			}
			if l.holds[a.pod] == next.holds[a.pod] {
				otherwise = "already"
			}
		}
		switch {
		case o.what == "unknown" && does:
			return []any{l, next}
		case o.what == "unknown", !does && o.what == otherwise:
			return []any{l}
		case does && (o.what == "ok" || o.what == "ended") && o.newest == next.newest:
			return []any{next}
		case o.what == "ended" && otherwise == "already":
			return []any{l}
		}
		return nil
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
}

func (a asked) hold() string { return fmt.Sprint("hold", a.pod) }

// of calls one replica and returns its answer.
func (a asked) of(m *Manager, apply object.Object) told {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	var v *View
	var err error
	already, refused := false, false
	switch a.what {
	case "read":
		list, err := m.List(ctx, "prod", 0, 1)
		if err != nil || len(list) != 1 {
			return told{what: "unknown"}
		}
		return told{"ok", list[0].Number}
	case "change":
		v, err = m.Change(ctx, "prod", a.parent, []object.Object{apply}, nil)
	case "bind":
		node := fmt.Sprint("n", a.node+1)
		v, _, err = m.Update(ctx, "prod", 0, func(v *View) (*Step, error) {
			already, refused = false, false
			switch p := v.State.Pod("d", fmt.Sprint("free", a.pod)); p.NodeName {
			case "":
			case node:
				already = true
				return nil, nil
			default:
				refused = true
				return nil, nil
			}
			p, err := v.Pod("d", fmt.Sprint("free", a.pod))
			return &Step{Bind: &Bind{Pod: p, Node: node}}, err
		})
	case "hold":
		v, _, err = m.Update(ctx, "prod", 0, func(v *View) (*Step, error) {
			if err := v.write.wait(ctx); err != nil {
				return nil, err
			}
			_, err := m.st.Hold(ctx, a.hold())
			if refused = err == nil; !errors.Is(err, store.ErrNotFound) {
				return nil, err
			}
			return holdOfPod(v, a.hold(), apply), nil
		})
	case "commit", "release":
		var before, h *store.Hold
		if before, err = m.st.Hold(ctx, a.hold()); err == nil {
			h, err = m.EndHold(ctx, a.hold(), a.what == "commit")
		}
		var ended *HoldEndedError
		switch {
		case errors.As(err, &ended), errors.Is(err, store.ErrNotFound):
			return told{what: "refused"}
		case err == nil && before.State != store.HoldHeld:
			return told{what: "already"}
		case err == nil:
			return told{"ended", h.EndedRevision} // by this call, or by another that ended it so
		}
	}
	switch {
	case errors.Is(err, store.ErrConflict):
		return told{what: "conflict"}
	case err != nil:
		return told{what: "unknown"}
	case already:
		return told{what: "already"}
	case refused:
		return told{what: "refused"}
	}
	return told{"ok", v.Revision}
}

// TestLinearizable lets clients read, change and bind through three replicas,
// whose connections are cut and which are started anew, and has Porcupine look
// for an order in which one ledger would have told them the same.
// BERTH_LINEAR_RUNS and BERTH_LINEAR_SECONDS make it long: make linear.
func TestLinearizable(t *testing.T) {
	number := func(name string, otherwise int) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			return otherwise
		}
		return n
	}
	runs, lasts := number("BERTH_LINEAR_RUNS", 1), time.Duration(number("BERTH_LINEAR_SECONDS", 2))*time.Second
	for run := range runs {
		seed := time.Now().UnixNano()
		t.Run(fmt.Sprint("run", run), func(t *testing.T) { linear(t, lasts, seed) })
	}
}

func linear(t *testing.T, lasts time.Duration, seed int64) {
	t.Logf("seed %d", seed)
	const replicas, clients = 3, 6
	url := sharedURL(t)
	begin := func() *replica {
		st, err := postgres.Open(context.Background(), url, postgres.Options{ApplicationName: "linear"})
		if err != nil {
			t.Error(err)
			return nil
		}
		w := &watched{Store: st}
		g := groupcommit.NewGroup(w, groupcommit.Options{})
		m, err := Open(context.Background(), w, g, Options{Poll: 50 * time.Millisecond, CheckpointEvery: 40})
		if err != nil {
			t.Error(err)
			return nil
		}
		return &replica{m, w, g}
	}
	var rs [replicas]atomic.Pointer[replica]
	for i := range rs {
		r := begin()
		if r == nil {
			return
		}
		rs[i].Store(r)
	}
	defer func() {
		for i := range rs {
			rs[i].Load().end()
		}
	}()
	first := rs[0].Load()
	if _, _, err := first.Upload(t.Context(), "prod", reader(sample(t)...)); err != nil {
		t.Fatal(err)
	}
	var list []object.Object
	for i := range freePods {
		list = append(list, pod(t, fmt.Sprint("free", i), ""))
	}
	if _, err := first.Change(t.Context(), "prod", 0, list, nil); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var history []porcupine.Operation
	counts := map[string]int{}
	start := time.Now()
	var wg sync.WaitGroup
	ended := make(chan struct{})
	applies := make([]object.Object, clients)
	for c := range clients {
		applies[c] = pod(t, fmt.Sprint("of", c), "n1")
	}
	var holding atomic.Int64
	var heldPods [freePods]object.Object
	for i := range heldPods {
		heldPods[i] = pod(t, fmt.Sprint("held", i), "n1")
	}
	for c := range clients {
		wg.Go(func() {
			rnd := rand.New(rand.NewSource(seed + int64(c)))
			seen := int64(2)
			for time.Since(start) < lasts {
				a := asked{what: "read"}
				apply := applies[c]
				switch k := rnd.Intn(16); {
				case k > 13: // now and then two hold the same
					a = asked{what: "hold", pod: int(holding.Add(rnd.Int63n(2))) % freePods}
					apply = heldPods[a.pod]
				case k > 9:
					a = asked{what: []string{"commit", "release"}[k%2], pod: int(max(0, holding.Load()-rnd.Int63n(3))) % freePods}
				case k < 3:
					a = asked{what: "bind", pod: rnd.Intn(freePods), node: rnd.Intn(2)}
				case k < 6:
					a = asked{what: "change", parent: seen}
				case k < 8:
					a = asked{what: "change"}
				}
				call := time.Since(start).Nanoseconds()
				out := a.of(rs[rnd.Intn(replicas)].Load().Manager, apply)
				end := time.Since(start).Nanoseconds()
				if out.what == "unknown" {
					end = math.MaxInt64 - 1
				}
				seen = max(seen, out.newest)
				mu.Lock()
				counts[a.what+" "+out.what]++
				if a.what != "read" || out.what != "unknown" {
					history = append(history, porcupine.Operation{ClientId: c, Input: a, Output: out, Call: call, Return: end})
				}
				mu.Unlock()
				if out.what == "unknown" {
					time.Sleep(5 * time.Millisecond) // no more open ends than needed
				}
			}
		})
	}
	faults := 0
	wg.Go(func() {
		defer close(ended)
		conn, err := pgx.Connect(context.Background(), url)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close(context.Background()) }()
		rnd := rand.New(rand.NewSource(seed))
		for time.Since(start) < lasts-200*time.Millisecond {
			time.Sleep(time.Duration(100+rnd.Intn(300)) * time.Millisecond)
			faults++
			if rnd.Intn(3) == 0 {
				i := rnd.Intn(replicas)
				if next := begin(); next != nil {
					rs[i].Swap(next).end()
				}
				continue
			}
			if _, err := conn.Exec(context.Background(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'linear' AND datname = current_database() AND random() < 0.5`); err != nil {
				t.Error(err)
				return
			}
		}
	})
	wg.Wait()
	<-ended
	if counts["read ok"] == 0 || counts["change ok"] == 0 || counts["bind ok"] == 0 || counts["hold ok"] == 0 || faults == 0 ||
		len(history) > 100 && counts["commit ended"]+counts["release ended"] == 0 {
		t.Errorf("no load or no fault: %v, %d faults", counts, faults)
	}
	t.Logf("%d operations, %d faults, %v", len(history), faults, counts)
	if got := porcupine.CheckOperationsTimeout(ledgerModel.ToModel(), history, time.Minute); got != porcupine.Ok {
		t.Errorf("linearizable: %v", got)
	}
}
