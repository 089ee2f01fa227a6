package cli

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	anyID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime = regexp.MustCompile(`\d\d:\d\d:\d\d`)
)

// A server knows a pod's past, and explain tells it.
func TestStory(t *testing.T) {
	url, asked := uploaded(t)
	decide := func(name, more string) {
		post(t, url+"/v1/decisions", []byte(`{"snapshot":"prod@latest","explain":"none","podRef":{"namespace":"shop","name":"`+name+`"}`+more+`}`))
	}
	decide("huge", `,"nodeNames":["n-a1"]`)
	decide("huge", "")
	decide("huge", "")
	decide("small", `,"bind":true`)
	decide("checkout", `,"bind":true`)
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"story-pending", exitNo, []string{"explain", "shop/huge"}},
		{"story-bound", exitYes, []string{"explain", "shop/small"}},
		{"story-gated", exitNo, []string{"explain", "shop/gated"}},
		{"story-nominated", exitNo, []string{"explain", "shop/checkout"}},
		{"story-new", exitNo, []string{"explain", "shop/web-4"}},
	} {
		r := asked.run(t, c.args...)
		if r.code != c.code || r.err != "" {
			t.Errorf("%s: code %d, stderr %q", c.name, r.code, r.err)
		}
		within(t, standardWidth, r.out)
		text := anyTime.ReplaceAllString(anyID.ReplaceAllString(r.out, "00000000-0000-7000-0000-000000000000"), "hh:mm:ss")
		golden(t, c.name, text)
	}
	r := asked.run(t, "explain", "shop/huge", "-o", "json")
	var st struct{ Summary, State string }
	if err := json.Unmarshal([]byte(r.out), &st); err != nil || st.State != "pending" || st.Summary == "" || r.code != exitNo {
		t.Errorf("%v %+v", err, r)
	}
	// In the process it is the same document, but for the past.
	if diff := cmp.Diff(keysOf(t, r.out), keysOf(t, snapshot().run(t, "explain", "shop/huge", "-o", "json").out)); diff != "" {
		t.Errorf("fields of the story (-server +snapshot):\n%s", diff)
	}
	// A pod that is gone has only a past.
	post(t, url+"/v1/snapshots/prod@latest/changes", []byte(`{"delete":[{"kind":"Pod","namespace":"shop","name":"huge"}]}`))
	r = asked.run(t, "explain", "shop/huge")
	if r.code != exitNo || !strings.HasPrefix(r.out, "GONE  shop/huge   attempt 3, ") || !strings.Contains(r.out, "LAST") {
		t.Errorf("%+v", r)
	}
	// An older revision has no story, and still has the pod.
	asked.env["BERTH_CLUSTER"] = "prod@1"
	if r = asked.run(t, "explain", "shop/huge"); r.code != exitNo || !strings.HasPrefix(r.out, "PENDING  shop/huge\n") {
		t.Errorf("%+v", r)
	}
}

// TestNext: a server says the same of what comes next as the process does of a file.
func TestNext(t *testing.T) {
	_, asked := uploaded(t)
	for _, args := range [][]string{{"shop/checkout"}, {"shop/web-4", "-o", "json"}, {"shop/checkout", "-o", "wide"}, {"shop/huge", "--until", "5s"}} {
		args = append([]string{"explain", "--next"}, args...)
		if a, b := asked.run(t, args...), snapshot().run(t, args...); a != b || a.code == exitBroken {
			t.Errorf("%v: by the server\n%+v\nfrom the file\n%+v", args, a, b)
		}
	}
	for want, args := range map[string][]string{
		"has no pod shop/none":             {"shop/none"},
		"ReplicaSet shop/none has no pods": {"rs/none", "-n", "shop"},
		"--until: until.duration: want":    {"shop/huge", "--until", "1ms"},
		"no page is about this":            {"shop/huge", "-o", "html"},
		"were all set":                     {"shop/huge", "--all"},
		"--next is about a pod that is":    {"-"},
	} {
		r := asked
		r.in = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"containers":[{"name":"c"}]}}`
		if got := r.run(t, append([]string{"explain", "--next"}, args...)...); got.code != exitBroken || !strings.Contains(got.err, want) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// keysOf returns the names of an object's fields, sorted.
func keysOf(t *testing.T, js string) []string {
	t.Helper()
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(js), &o); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(o))
}

// By name a server tells where a pod stands, from what it keeps of it.
func TestLifecycleByName(t *testing.T) {
	url := serve(t)
	asked := call{env: map[string]string{"BERTH_SERVER": url}}
	post(t, url+"/v1/snapshots?cluster=default", []byte(mustRead(t, podsFile)))
	for name, want := range map[string]string{"crash": "CrashLoopBackOff", "init": "Init:0/1"} {
		r := asked.run(t, "lifecycle", "shop/"+name)
		if r.code != exitNo || !strings.HasPrefix(r.out, want+"  shop/"+name) || !strings.Contains(r.out, "CONTAINER") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := asked.run(t, "lifecycle", "shop/well", "-o", "json"); r.code != exitYes || !strings.Contains(r.out, `"phase": "Running"`) {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"lifecycle", "shop/nobody"}, {"lifecycle", "shop/nobody", "--node-gone"}, {"termination", "shop/nobody"}, {"lifecycle", "a/b/c"}, {"lifecycle", "shop/well", "--cluster", "other"}} {
		if r := asked.run(t, args...); r.code != exitBroken || r.out != "" || r.err == "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// With anything to ask about it a server answers about its own pod what the pod's file does.
func TestLifecycleOfAServersPod(t *testing.T) {
	url := serve(t)
	post(t, url+"/v1/snapshots?cluster=default", []byte(mustRead(t, podsFile)))
	asked, here := call{env: map[string]string{"BERTH_SERVER": url}}, call{env: map[string]string{"BERTH_SNAPSHOT": podsFile}}
	for _, args := range [][]string{
		{"shop/well", "--node-gone"},
		{"shop/well", "--event", "exit=1@30s,container=web", "--until", "5m"},
		{"shop/lost", "--now", "2026-11-21T10:30:00Z"},
		{"shop/well", "--semantics", "v1.37"},
		{"shop/well", "--semantics", "v1.36"},
	} {
		a, b := asked.run(t, append([]string{"lifecycle"}, args...)...), here.run(t, append([]string{"lifecycle"}, args...)...)
		if a != b || a.code == exitBroken {
			t.Errorf("%v: by the server\n%+v\nfrom the file\n%+v", args, a, b)
		}
		if other := slices.Contains(args, "v1.37"); strings.Contains(a.out, "KUBELET") != other || other && !strings.Contains(a.out, "v1.37.2") {
			t.Errorf("%v does not tell whose kubelet it follows: %s", args, a.out)
		}
	}
}

// A pod that the server knows needs not be given whole, and ends as the same pod
// from a file does.
func TestTerminationOfAServersPod(t *testing.T) {
	_, asked := uploaded(t)
	served := asked.run(t, "termination", "shop/batch-2", "--now", "2026-11-21T12:00:00Z")
	dumped := snapshot().run(t, "termination", "shop/batch-2", "--now", "2026-11-21T12:00:00Z")
	if served.code != dumped.code || served.code == exitBroken || served.err != "" {
		t.Fatalf("%+v", served)
	}
	if d := cmp.Diff(dumped.out, served.out); d != "" {
		t.Errorf("(-dump +server):\n%s", d)
	}
	next := snapshot().run(t, "termination", "shop/batch-2", "--now", "2026-11-21T12:00:00Z", "--semantics", "v1.35")
	if !strings.Contains(next.out, "KUBELET") || !strings.Contains(next.out, "v1.35.4") {
		t.Errorf("%+v", next)
	}
	if r := asked.run(t, "termination", "shop/nobody"); r.code != exitBroken || !strings.Contains(r.err, "has no pod shop/nobody") || !strings.Contains(r.err, "termination -") {
		t.Errorf("%+v", r)
	}
	if r := asked.run(t, "lifecycle", "shop/gated"); !strings.HasPrefix(r.out, "SchedulingGated  shop/gated") {
		t.Errorf("%+v", r)
	}
}
