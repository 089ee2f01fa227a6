package handlers

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth/internal/handlers/admit"
	"berth/internal/revision"
)

// holding is a Hold that lets something happen after each answer that rejects, at
// most once, and then wants the last word, or gives up.
type holding struct {
	happens func()
	late    bool // the state is never as new as the call
	tries   int
}

func (h *holding) hold(_ context.Context, name string, _ func() *corev1.Pod, try func(bool) (bool, error)) error {
	h.tries++
	if rejects, err := try(false); err != nil || !rejects {
		return err
	}
	if h.happens != nil {
		h.happens()
	}
	if h.late {
		return &revision.BehindError{Cluster: name, Waited: time.Second, Cause: context.DeadlineExceeded}
	}
	h.tries++
	_, err := try(true)
	return err
}

// startHolding serves a cluster with a node n1 that is full, through a holding.
func startHolding(t *testing.T) (*harness, *holding) {
	t.Helper()
	held := &holding{}
	h := start(t, func(o *admit.Options) { o.Hold = held.hold })
	h.upload("default", listOf(node("n1", "2"), pod("busy", "2", `,"nodeName":"n1"`)))
	return h, held
}

func (h *harness) filtered(names ...string) extenderv1.ExtenderFilterResult {
	h.Helper()
	var got extenderv1.ExtenderFilterResult
	h.want(200, &got, "POST", "/filter", filterBody(pod("web", "2", ""), names...))
	return got
}

// TestFilterIsHeld: room that is heard of while a rejection is held lets the pod
// pass, one that is never heard of does not.
func TestFilterIsHeld(t *testing.T) {
	h, held := startHolding(t)
	if got := h.filtered("n1"); got.Error != "" || got.FailedNodes["n1"] != "Insufficient cpu" || held.tries != 2 {
		t.Errorf("nothing happens: %+v after %d tries", got, held.tries)
	}
	held.happens = func() { h.upload("default", listOf(node("n1", "2"), node("n2", "4"))) }
	held.tries = 0
	if got := h.filtered("n1"); got.Error != "" || len(*got.NodeNames) != 1 || held.tries != 2 {
		t.Errorf("room appears: %+v after %d tries", got, held.tries)
	}
	held.tries = 0
	if got := h.filtered("n1", "n2"); got.Error != "" || len(*got.NodeNames) != 2 || held.tries != 1 {
		t.Errorf("nothing to reject: %+v after %d tries", got, held.tries)
	}
	var list struct{ Items []struct{ Outcome string } }
	h.want(200, &list, "GET", "/v1/decisions?cluster=default", "")
	if len(list.Items) != 3 {
		t.Errorf("%d records of three answers", len(list.Items))
	}
	if text := string(h.want(200, nil, "GET", "/metrics", "").body); !strings.Contains(text, `berth_hold_duration_seconds_count{outcome="rejected",verb="filter"} 2`) {
		t.Errorf("holds are not counted: %s", text)
	}
}

// TestUnknownNodeIsNotRejected: the answer waits for a node that the watch has not delivered yet;
// then the call is an error, and kube-scheduler retries.
func TestUnknownNodeIsNotRejected(t *testing.T) {
	h, held := startHolding(t)
	if got := h.filtered("n1", "new"); !strings.Contains(got.Error, "has no node new") || got.NodeNames != nil {
		t.Errorf("a node that never comes: %+v", got)
	}
	held.happens = func() { h.upload("default", listOf(node("n1", "2"), node("new", "4"))) }
	if got := h.filtered("new"); got.Error != "" || len(*got.NodeNames) != 1 {
		t.Errorf("a node that comes: %+v", got)
	}
	held.tries, held.happens = 0, nil
	if got := h.filtered("new", "other"); got.Error != "" || len(*got.NodeNames) != 1 || held.tries != 1 {
		t.Errorf("a pod that has somewhere to go waits for no node: %+v", got)
	}
	var scores extenderv1.HostPriorityList
	held.late, held.tries = true, 0
	h.want(200, &scores, "POST", "/prioritize", filterBody(pod("web", "2", ""), "new", "other"))
	if len(scores) != 2 || scores[1].Score != 0 || held.tries != 1 {
		t.Errorf("scores with a node that never comes: %+v", scores)
	}
}

// TestBehindRejectsNothing: without a state that is as new as the call a rejection
// is none.
func TestBehindRejectsNothing(t *testing.T) {
	h, held := startHolding(t)
	held.late = true
	if got := h.filtered("n1"); !strings.Contains(got.Error, "nothing is rejected") || len(got.FailedNodes) > 0 {
		t.Errorf("%+v", got)
	}
	body := `{"Pod":` + pod("web", "2", "") + `,"NodeNameToMetaVictims":{"n1":{"Pods":[]}}}`
	h.want(503, nil, "POST", "/preempt", body)
	held.late = false
	var got extenderv1.ExtenderPreemptionResult
	h.want(200, &got, "POST", "/preempt", body)
	if held.tries != 4 {
		t.Errorf("%d tries for two rejections and one that stands", held.tries)
	}
	if text := string(h.want(200, nil, "GET", "/metrics", "").body); !strings.Contains(text, `outcome="behind",verb="preempt"`) {
		t.Error("what stayed behind is not counted")
	}
	h.want(200, nil, "POST", "/shadow/filter", filterBody(pod("web", "2", ""), "n1"))
	if held.tries != 4 {
		t.Error("a shadow's answer was held")
	}
}
