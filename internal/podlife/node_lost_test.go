package podlife

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// aNode reads a node; text is the inside of the JSON object.
func aNode(t *testing.T, text string) *corev1.Node {
	t.Helper()
	n := &corev1.Node{}
	if err := json.Unmarshal([]byte("{"+text+"}"), n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDeletionByNode(t *testing.T) {
	const (
		stored   = `"metadata":{"uid":"u"},`
		fiveMins = stored + `"spec":{"tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]}`
		unknown  = `"status":{"conditions":[{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-03-01T11:55:00Z"}]}`
		undated  = `"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}`
		others   = `"status":{"conditions":[{"type":"DiskPressure","status":"False"}]}`
		ready    = `"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-03-01T09:00:00Z"}]}`
	)
	taints := func(list ...string) string { return `"spec":{"taints":[` + strings.Join(list, ",") + `]}` }
	taint := func(key, added string) string {
		return `{"key":"` + key + `","effect":"NoExecute"` + added + `}`
	}
	at := func(clock string) string { return `,"timeAdded":"2026-03-01T` + clock + `Z"` }
	tolerates := func(list ...string) string {
		return stored + `"spec":{"tolerations":[` + strings.Join(list, ",") + `]}`
	}
	for _, c := range []struct {
		what, pod, node, since string
		at, latest, rule       string
	}{
		{"a node that is well", fiveMins, ready, "", "", "", "none"},
		{"a node that is unreachable", fiveMins, unknown, "", "12:00:00", "", "toleration-seconds"},
		{"and not tolerated", stored + `"spec":{}`, unknown, "", "11:55:00", "", "not-tolerated"},
		{"a pod that was never stored", `"spec":{}`, unknown, "", "12:00:00", "", "toleration-seconds"},
		{"and tolerates for ever", `"spec":{"tolerations":[{"operator":"Exists"}]}`, unknown, "", "", "", "tolerated"},
		{"a node that is not Ready", fiveMins, strings.ReplaceAll(unknown, "Unknown", "False"), "", "12:00:00", "12:00:05", "toleration-seconds"},
		{"a node that died just now", fiveMins, ready, "11:59:00", "12:04:40", "12:05:00", "toleration-seconds"},
		{"the condition comes before the guess", fiveMins, unknown, "11:59:00", "12:00:00", "", "toleration-seconds"},
		{"a node that never reported", fiveMins, `"metadata":{"creationTimestamp":"2026-03-01T11:59:00Z"},` + others, "", "12:05:00", "12:05:05", "toleration-seconds"},
		{"nor has a time", fiveMins, others, "", "", "", "since-unknown"},
		{"a node that nobody reports on", fiveMins, `"metadata":{"creationTimestamp":"2026-03-01T11:59:00Z"}`, "", "", "", "none"},
		{"unreachable, nobody knows since when", fiveMins, undated, "", "", "", "since-unknown"},
		{"not Ready, nobody knows since when", fiveMins, strings.ReplaceAll(undated, "Unknown", "False"), "", "", "", "since-unknown"},
		{"but the question does", fiveMins, undated, "11:59:00", "12:04:40", "12:05:00", "toleration-seconds"},
		{"but its taint does", fiveMins, undated + "," + taints(taint("node.kubernetes.io/unreachable", at("11:57:00"))), "", "12:02:00", "", "toleration-seconds"},
		{"but the pod tolerates it for ever", `"spec":{"tolerations":[{"operator":"Exists"}]}`, undated, "", "", "", "tolerated"},
		{"of which nothing is known", fiveMins, ``, "", "", "", "none"},
		{"its taint has a time", fiveMins, unknown + "," + taints(taint("node.kubernetes.io/unreachable", at("11:57:00"))), "", "12:02:00", "", "toleration-seconds"},
		{"the taint of somebody", stored + `"spec":{}`, ready + "," + taints(taint("k", at("11:57:00"))), "", "11:57:00", "", "not-tolerated"},
		{"without a time it counts from now", tolerates(`{"key":"k","operator":"Exists","tolerationSeconds":7}`), ready + "," + taints(taint("k", "")), "", "12:00:07", "", "toleration-seconds"},
		{"the shortest counts", tolerates(`{"key":"a","operator":"Exists","tolerationSeconds":70}`, `{"key":"b","operator":"Exists","tolerationSeconds":20}`), taints(taint("a", at("11:00:00")), taint("b", at("11:00:00"))), "", "11:00:20", "", "toleration-seconds"},
		{"but the first that matches", tolerates(`{"key":"a","operator":"Exists","tolerationSeconds":70}`, `{"operator":"Exists","tolerationSeconds":20}`), taints(taint("a", at("11:00:00"))), "", "11:01:10", "", "toleration-seconds"},
		{"a later taint moves no count", tolerates(`{"key":"a","operator":"Exists","tolerationSeconds":70}`, `{"key":"b","operator":"Exists","tolerationSeconds":20}`), taints(taint("a", at("11:00:00")), taint("b", at("11:00:10"))), "", "11:01:10", "", "toleration-seconds"},
		{"one that is not tolerated ends it", tolerates(`{"key":"a","operator":"Exists","tolerationSeconds":70}`), taints(taint("a", at("11:00:00")), taint("b", at("11:00:10"))), "", "11:00:10", "", "not-tolerated"},
		{"too late", tolerates(`{"key":"a","operator":"Exists","tolerationSeconds":70}`), taints(taint("a", at("11:00:00")), taint("b", at("11:10:00"))), "", "11:01:10", "", "toleration-seconds"},
		{"a taint after one that is tolerated for ever", tolerates(`{"key":"a","operator":"Exists"}`, `{"key":"b","operator":"Exists","tolerationSeconds":20}`), taints(taint("a", at("11:00:00")), taint("b", at("11:10:00"))), "", "11:10:20", "", "toleration-seconds"},
		{"negative seconds", tolerates(`{"key":"a","operator":"Exists","tolerationSeconds":-5}`), taints(taint("a", at("11:00:00"))), "", "11:00:00", "", "toleration-seconds"},
		{"another effect", stored + `"spec":{}`, ready + `,"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}`, "", "", "", "none"},
		{"deleted before", `"metadata":{"deletionTimestamp":"2026-03-01T12:00:30Z"}`, unknown, "", "", "", "deleted-before"},
	} {
		var since *time.Time
		if c.since != "" {
			s := clockOf(t, c.since)
			since = &s
		}
		o := DeletionByNode(dying(t, c.pod), aNode(t, c.node), since, hour)
		is(t, c.what, []string{clocked(o.At), clocked(o.Latest), o.Rule.ID}, []string{c.at, c.latest, "node-deletion/" + c.rule})
	}
	p := dying(t, stored+`"spec":{}`)
	o := DeletionByNode(p, nil, nil, hour)
	is(t, "gone", []string{clocked(o.At), clocked(o.Latest), o.By}, []string{"12:00:40", "12:01:00", "pod-garbage-collector-controller"})
	s := clockOf(t, "11:00:00")
	is(t, "gone since", clocked(DeletionByNode(p, nil, &s, hour).Latest), "11:01:00")
	p.Spec.NodeName = ""
	is(t, "without a node", DeletionByNode(p, nil, nil, hour).At == nil, true)
}

func clockOf(t *testing.T, clock string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, "2026-03-01T"+clock+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// clocked writes a time of the day; "" for none.
func clocked(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format("15:04:05")
}
