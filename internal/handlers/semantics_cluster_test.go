package handlers

import (
	"testing"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/rest"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// TestSemanticsOfACluster: a cluster's own release decides wherever the call names none, for
// kube-scheduler's calls, too.
func TestSemanticsOfACluster(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		c := &decision.Configuration{Profiles: config.Default(semantics.Default()), Clusters: map[string][]*engine.Profile{}}
		next, err := semantics.Parse("v1.37")
		if err != nil {
			t.Fatal(err)
		}
		if c.Clusters["prod"], err = c.Under(next); err != nil {
			t.Fatal(err)
		}
		m := o.Clusters.(*revision.Manager)
		log := record.New(m, o.Seals.(store.Store), c, record.Options{})
		o.Configuration, o.Decisions, o.Binder = c, log, bind.New(m, log, bind.Options{})
	})
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
		for more, score := range map[string]string{"": imageScores[want[:5]], `,"semantics":"v1.35"`: imageScores["v1.35"]} {
			var a decision.Answer
			h.want(200, &a, "POST", "/v1/decisions", `{"snapshot":"`+cluster+`@latest","dryRun":true,"explain":"full","pod":`+volumeOfImage+more+`}`)
			if got := imageScore(t, &a); got != score {
				t.Errorf("%s%s: %s scores %s, want %s", cluster, more, a.Semantics, got, score)
			}
		}
	}
}
