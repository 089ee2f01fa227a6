package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// mostEvents is how many events a scenario takes.
const mostEvents = 1000

// simulated has the pods arrive in a simulation. Where objects come or go beside them it has a
// clock, in which the pods come at the rate of upstream's threshold. It is 0 where that has too
// many events.
func (st *stage) simulated(ctx context.Context) (float64, error) {
	q := map[string]any{"base": st.cluster + "@latest", "wait": "2m"}
	clock := false
	for _, e := range st.beside {
		clock = clock || !isPod(e.create)
	}
	switch events := st.happenings(); {
	case clock && len(events) > mostEvents:
		return 0, nil
	case clock:
		q["clock"], q["rates"], q["events"] = true, map[string]any{"clients": "none"}, events
	case len(st.beside) > 0:
		q["arrivals"] = map[string]any{"pods": st.timed()}
	default:
		q["arrivals"] = map[string]any{"workloads": []any{st.some("m", st.measure.count)}}
	}
	body, err := json.Marshal(q)
	if err != nil {
		return 0, err
	}
	var a struct {
		ID, State string
		Result    json.RawMessage
		Profiles  []struct{ Placed int }
	}
	began := time.Now()
	raw, err := st.post("/v1/simulations", string(body))
	for err == nil {
		if err = json.Unmarshal(raw, &a); err != nil || a.State != "queued" && a.State != "running" {
			break
		}
		time.Sleep(2 * time.Millisecond)
		raw, err = st.Send(st.client, http.MethodGet, "/v1/simulations/"+a.ID, "")
	}
	took := time.Since(began)
	if err == nil && a.Result != nil {
		err = json.Unmarshal(a.Result, &a)
	}
	switch {
	case err != nil:
		return 0, err
	case len(a.Profiles) != 1:
		return 0, fmt.Errorf("no answer of a simulation: %.300s", raw)
	}
	// Pods beside the measured ones may get a node, too.
	return st.rate(min(a.Profiles[0].Placed, st.measure.count), took, ctx.Err())
}

// some are so many of the measured pods, under a name.
func (st *stage) some(name string, n int) map[string]any {
	return map[string]any{"count": n, "pod": json.RawMessage(strings.Replace(st.measure.text, nameMark, name, 1))}
}

// timed are the measured pods and those that come beside them, each with its time: that of the
// last that came beside.
func (st *stage) timed() (list []any) {
	next, at := 0, time.Duration(0)
	add := func(pod string) {
		list = append(list, map[string]any{"pod": json.RawMessage(pod), "at": at.String()})
	}
	for i := range st.measure.count {
		for next < len(st.beside) && st.beside[next].at.Seconds()*st.threshold <= float64(i) {
			at = st.beside[next].at
			add(st.beside[next].create)
			next++
		}
		add(st.measure.pod(i))
	}
	return list
}

// happenings are the events of a scenario with a clock: in each second as many pods come as at the
// rate of the threshold. Nodes that are churned are left out, since no pod
// fits on them, and so are deletions of Services, for which there is no event.
func (st *stage) happenings() (list []map[string]any) {
	add := func(second int, e map[string]any) {
		e["at"] = fmt.Sprint(second, "s")
		list = append(list, e)
	}
	next := 0
	for second, came := 0, 0; came < st.measure.count; second++ {
		for ; next < len(st.beside) && int(st.beside[next].at.Seconds()) <= second; next++ {
			switch e := st.beside[next]; {
			case e.remove.Kind == "Pod":
				add(second, map[string]any{"delete": map[string]any{"namespace": e.remove.Namespace, "name": e.remove.Name}})
			case e.create != "" && isPod(e.create):
				add(second, map[string]any{"create": map[string]any{"pod": json.RawMessage(e.create)}})
			case e.create != "" && !strings.Contains(e.create, `"kind":"Node"`):
				add(second, map[string]any{"apply": json.RawMessage(e.create)})
			}
		}
		n := min(int(st.threshold), st.measure.count-came)
		add(second, map[string]any{"create": st.some(fmt.Sprint("m", second), n)})
		came += n
	}
	return list
}
