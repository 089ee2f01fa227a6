package handlers

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/rest"
	"berth/internal/podlife"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// startUnder starts with a cluster prod that follows a release of its own.
func startUnder(t *testing.T, release string) *harness {
	t.Helper()
	return start(t, func(o *admit.Options) {
		c := &decision.Configuration{Profiles: config.Default(semantics.Default()), Clusters: map[string][]*engine.Profile{}}
		own, err := semantics.Parse(release)
		if err != nil {
			t.Fatal(err)
		}
		if c.Clusters["prod"], err = c.Under(own); err != nil {
			t.Fatal(err)
		}
		m := o.Clusters.(*revision.Manager)
		log := record.New(m, o.Seals.(store.Store), c, record.Options{})
		o.Configuration, o.Decisions, o.Binder = c, log, bind.New(m, log, bind.Options{})
	})
}

// TestSemanticsOfACluster: a cluster's own release decides wherever the call names none, for
// kube-scheduler's calls, too.
func TestSemanticsOfACluster(t *testing.T) {
	h := startUnder(t, "v1.37")
	for cluster, want := range map[string]string{"prod": "v1.37.2", "test": "v1.36.3"} {
		h.upload(cluster, listOf(withImage("has"), node("lacks", "8")))
		var c rest.Cluster
		h.want(200, &c, "GET", "/v1/clusters/"+cluster, "")
		if c.Semantics != want {
			t.Errorf("%+v, want %s", c, want)
		}
		for _, verb := range []string{"filter", "prioritize"} {
			h.want(200, nil, "POST", "/clusters/"+cluster+"/"+verb, `{"Pod":`+volumeOfImage+`,"NodeNames":["has","lacks"]}`)
		}
		h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"`+cluster+`@latest","bind":true,"pod":`+pod("own", "1", "")+`}`)
		var list rest.DecisionList
		h.want(200, &list, "GET", "/v1/decisions?cluster="+cluster, "")
		for _, d := range list.Items {
			if d.Semantics != want {
				t.Errorf("%s in %s is stamped %s, want %s", d.Verb, cluster, d.Semantics, want)
			}
		}
		if len(list.Items) != 3 {
			t.Errorf("%d records in %s", len(list.Items), cluster)
		}
		// The nodes do not tell their kubelets, so they are of the cluster's release.
		var life podlife.Life
		var end podlife.Termination
		h.want(200, &life, "POST", "/v1/pods/lifecycle", `{"snapshot":"`+cluster+`@latest","podRef":{"namespace":"shop","name":"own"}}`)
		h.want(200, &end, "POST", "/v1/pods/termination", `{"cause":"delete","snapshot":"`+cluster+`@latest","podRef":{"namespace":"shop","name":"own"}}`)
		var s report.Story
		h.want(200, &s, "GET", "/v1/clusters/"+cluster+"/pods/shop/own", "")
		kubelet := want
		if kubelet == "v1.36.3" {
			kubelet = "" // it is not named
		}
		for _, got := range []podlife.Followed{life.Followed, end.Followed, s.Lifecycle.Followed, s.Ending.Followed} {
			if got.Semantics != kubelet {
				t.Errorf("the kubelets of %s are of %q, want %q", cluster, got.Semantics, kubelet)
			}
		}
		for more, score := range map[string]string{"": imageScores[want[:5]], `,"semantics":"v1.35"`: imageScores["v1.35"]} {
			var a decision.Answer
			h.want(200, &a, "POST", "/v1/decisions", `{"snapshot":"`+cluster+`@latest","dryRun":true,"explain":"full","pod":`+volumeOfImage+more+`}`)
			if got := imageScore(t, &a); got != score {
				t.Errorf("%s%s: %s scores %s, want %s", cluster, more, a.Semantics, got, score)
			}
		}
	}
}

// sandboxed is a pod on n1 that requests 1 cpu and has an overhead of 1, both of which its kubelet
// reports. v1.37 counts the overhead twice (B11).
func sandboxed() string {
	p := pod("sandboxed", "1", `,"nodeName":"n1","priority":100,"overhead":{"cpu":"1"}`)
	return strings.TrimSuffix(p, "}") + `,"status":{"phase":"Running","resources":{"requests":{"cpu":"2"}},"allocatedResources":{"cpu":"2"}}}`
}

// TestPreemptOfACluster: /preempt judges what would fit as the cluster's own release does.
func TestPreemptOfACluster(t *testing.T) {
	h := startUnder(t, "v1.37")
	for cluster, want := range map[string]byNode{"test": {"n1": uids("victim")}, "prod": {}} {
		h.upload(cluster, listOf(node("n1", "4"), sandboxed(), pod("victim", "1", `,"nodeName":"n1","priority":1`)))
		var got extenderv1.ExtenderPreemptionResult
		a := h.want(200, &got, "POST", "/clusters/"+cluster+"/preempt", `{"Pod":`+pod("p", "2", `,"priority":50`)+`,"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"uid-victim"}]}}}`)
		if d := cmp.Diff(want, got.NodeNameToMetaVictims); d != "" {
			t.Errorf("%s (-want +got)\n%s", cluster, d)
		}
		var replay struct{ Identical bool }
		if h.want(200, &replay, "POST", "/v1/decisions/"+a.Header.Get("Berth-Decision-Id")+"/replay", `{}`); !replay.Identical {
			t.Errorf("%s: the replay differs", cluster)
		}
	}
}

// TestBindOfACluster: /bind allocates devices as the cluster's own release does: v1.35 does not
// read their taints (A5).
func TestBindOfACluster(t *testing.T) {
	h := startUnder(t, "v1.35")
	for cluster, device := range map[string]string{"test": "d1", "prod": "d0"} {
		h.upload(cluster, strings.Replace(storageAndDevices(), `{"name":"d0"}`, `{"name":"d0","taints":[{"key":"k","effect":"NoSchedule"}]}`, 1))
		var r extenderv1.ExtenderBindingResult
		h.want(200, &r, "POST", "/clusters/"+cluster+"/bind", `{"PodName":"p0","PodNamespace":"shop","PodUID":"uid-p0","Node":"n2"}`)
		var list rest.DecisionList
		h.want(200, &list, "GET", "/v1/decisions?verb=bind&cluster="+cluster, "")
		if r.Error != "" || len(list.Items) != 1 {
			t.Fatalf("%s: %q %+v", cluster, r.Error, list.Items)
		}
		var rec record.Recorded
		h.want(200, &rec, "GET", "/v1/decisions/"+list.Items[0].ID, "")
		if rec.BoundEffects == nil || len(rec.BoundEffects.ResourceClaims) != 1 || rec.BoundEffects.ResourceClaims[0].Devices[0].Device != device {
			t.Errorf("%s: %+v, want %s", cluster, rec.BoundEffects, device)
		}
		var replay record.Replay
		if h.want(200, &replay, "POST", "/v1/decisions/"+rec.ID+"/replay", `{}`); !replay.Identical {
			t.Errorf("%s: the replay differs: %+v", cluster, replay.Differences)
		}
	}
}

// created are the parts of an answer that another time changes.
var created = regexp.MustCompile(`"createdAt":"[^"]*",|"durationMicros":\d+`)

// TestReleasesInTurns: a release's answer has its own bytes, whatever was asked under another one
// before or at the same time: nothing is kept without the release that it is of.
func TestReleasesInTurns(t *testing.T) {
	pods := []string{
		volumeOfImage, pod("p", "2", `,"priority":50`), pod("plain", "100m", ""),
		strings.Replace(pod("near", "100m", `,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{},"namespaceSelector":{"matchExpressions":[{"key":"team","operator":"DoesNotExist"}]}}]}}`), `"shop"`, `"other"`, 1),
	}
	cluster := listOf(node("n1", "4"), withImage("has"), node("lacks", "8"), sandboxed(), pod("victim", "1", `,"nodeName":"n1","priority":1`),
		`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop","labels":{"team":"a"}}}`, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"other","labels":{"team":"b"}}}`)
	names := append(semantics.Names(), "v1.37 StorageCapacityScoring=false", "v1.37 emulated=v1.36")
	ask := func(h *harness, release, pod string) string {
		a := h.do("POST", "/v1/decisions", `{"snapshot":"prod@latest","dryRun":true,"explain":"full","now":"2026-11-21T10:00:00Z","semantics":"`+release+`","pod":`+pod+`}`)
		if a.StatusCode != 200 {
			t.Errorf("%s: %s", release, a.body)
		}
		return created.ReplaceAllString(string(a.body), "")
	}
	want, different := map[string]string{}, map[string]bool{}
	for _, release := range names {
		h := start(t, nil) // which has answered nothing else
		h.upload("prod", cluster)
		for _, p := range pods {
			want[release+p] = ask(h, release, p)
			different[want[release+p]] = true
		}
	}
	if len(different) < 2*len(names) {
		t.Fatalf("only %d answers differ", len(different))
	}
	h := start(t, nil)
	h.upload("prod", cluster)
	for range 3 {
		for _, p := range pods {
			for _, release := range names {
				if got := ask(h, release, p); got != want[release+p] {
					t.Fatalf("in turns, %s:\n%s\nwant\n%s", release, got, want[release+p])
				}
			}
		}
	}
	var all sync.WaitGroup
	for _, release := range names {
		for _, p := range pods {
			all.Go(func() {
				for range 5 {
					if got := ask(h, release, p); got != want[release+p] {
						t.Errorf("at once, %s:\n%s\nwant\n%s", release, got, want[release+p])
						return
					}
				}
			})
		}
	}
	all.Wait()
}
