package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/handlers"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/internal/jobs"
	"berth/internal/jobs/replays"
	"berth/internal/jobs/simulations"
	"berth/internal/priorityclass"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

// serve starts a server over real rooms and gives its URL.
func serve(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	st, err := sqlite.Open(ctx, t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := revision.Open(ctx, st, g, revision.Options{ProfileOf: (&decision.Configuration{Profiles: config.Default(semantics.Default())}).Named})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := priorityclass.Open(ctx, st, priorityclass.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := record.New(m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{Classes: registry, Clock: ticking(today.Add(-20 * time.Minute))})
	batches := replays.New(st, l, jobs.Options{ParseProfiles: config.Parse, Unfinished: 3})
	sims := simulations.New(st, jobs.Options{Poll: 10 * time.Millisecond, Beat: 10 * time.Millisecond})
	api, err := handlers.New(admit.Options{
		Clusters: m, Decisions: l, Binder: bind.New(m, l, bind.Options{}), Replays: batches, Simulations: sims, PriorityClasses: registry, Calls: st, Events: st, ParseProfiles: config.Parse, Limits: limits.Default(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { sims.Work(ctx, api.RunSimulation) })
	s := httptest.NewServer(api.Handler())
	t.Cleanup(func() {
		s.Close()
		http.DefaultClient.CloseIdleConnections()
		stop()
		work.Wait()
		for _, err := range []error{registry.Close(), m.Close(), g.Close(context.Background()), st.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return s.URL
}

// ticking is a clock that goes on by a minute each time it is looked at.
func ticking(at time.Time) func() time.Time {
	var mu sync.Mutex
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Minute)
		return at
	}
}

// post sends a body that has to be taken.
func post(t *testing.T, url string, body []byte) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if bytes.HasPrefix(body, []byte("#")) {
		req.Header.Set("Content-Type", "application/yaml")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatalf("%v %d %s", err, resp.StatusCode, out)
	}
	return out
}

// uploaded starts a server that holds the fixture.
func uploaded(t *testing.T) (url string, asked call) {
	t.Helper()
	url = serve(t)
	post(t, url+"/v1/snapshots?cluster=prod", []byte(mustRead(t, filepath.Join("testdata", "cluster.yaml"))))
	return url, call{env: map[string]string{"BERTH_SERVER": url, "BERTH_CLUSTER": "prod"}}
}

// A server and a snapshot in the process say the same, word for word, of a pod
// that is given whole.
func TestServerSaysTheSame(t *testing.T) {
	_, online := uploaded(t)
	here := snapshot()
	for _, name := range []string{"small", "huge", "gated", "checkout", "web-4", "apart", "web-1"} {
		file := podFile(t, name)
		for _, args := range [][]string{
			{"explain", "-f", file},
			{"explain", "-f", file, "--node", "n-a1"},
			{"explain", "-f", file, "--all"},
			{"explain", "-f", file, "-o", "wide"},
			{"explain", "-f", file, "-o", "wide", "--semantics", "v1.37 StorageCapacityScoring=false"},
			{"victims", "-f", file},
			{"spread", "-f", file},
			{"fit", "-f", file, "--by", "zone"},
			{"fit", "-f", file, "--semantics", "v1.35"},
			{"pools", "-f", file, "--count", "9", "--like", "n-a1", "--like", "n-c2,cost=2,max=7"},
		} {
			a, b := here.run(t, args...), online.run(t, args...)
			if a != b {
				t.Errorf("%v: in the process\n%+v\nby the server\n%+v", args, a, b)
			}
			if a.out == "" && args[2] != "gated" && len(args) < 5 {
				t.Errorf("%v: nothing to compare: %+v", args, a)
			}
		}
	}
	for _, name := range []string{"small", "huge", "gated", "checkout", "web-4", "apart", "web-1"} {
		for _, args := range [][]string{
			{"explain", "shop/" + name}, {"explain", "shop/" + name, "--decision"}, {"victims", "shop/" + name}, {"spread", "shop/" + name},
		} {
			if a, b := here.run(t, args...), online.run(t, args...); a != b || a.out == "" {
				t.Errorf("%v: in the process\n%+v\nby the server\n%+v", args, a, b)
			}
		}
	}
	for _, args := range [][]string{
		{"pending", "-A"},
		{"pools", "--like", "n-a1"},
		{"rollout", "-f", filepath.Join("..", "..", "examples", "deployment.yaml"), "-o", "wide"},
		{"pending", "-n", "shop", "-o", "wide"},
		{"queue"},
		{"garbage"},
		{"classes"},
		{"capacity", "--by", "zone"},
		{"upgrade", "--to", "v1.37"},
		{"drain", "n-a1", "--force"},
		{"drain", "n-a1", "--disable-eviction", "--grace-period", "3", "-o", "wide"},
		{"drain", "--find", "2", "--force"},
		{"drain", "--each", "node", "--force"},
		{"lose", "--zone", "eu-1a"},
		{"lose", "--each", "zone", "-o", "wide"},
		{"simulate", "-f", filepath.Join("testdata", "scenario.yaml")},
		{"simulate", "-f", filepath.Join("testdata", "scenario.yaml"), "--config", filepath.Join("..", "..", "examples", "packed.yaml")},
		{"compare", "--config", filepath.Join("..", "..", "examples", "packed.yaml")},
		{"admit", "-f", podFile(t, "huge")},
		{"admit", "-f", podFile(t, "huge"), "-o", "json"},
		{"evictions", "n-c1", "--usage", filepath.Join("testdata", "usage.json")},
		{"evictions", "n-c1", "--signal", "pids", "-o", "json"},
		{"pressure", "n-c1", "--usage", filepath.Join("testdata", "usage.json"), "--signal", "memory.available=90Mi,since=1h", "--eviction-soft", "memory.available<1Gi", "--eviction-soft-grace-period", "memory.available=2m", "-o", "wide"},
		{"pressure", "n-c1", "--signal", "imagefs.available=9Gi,capacity=100Gi,reclaimable=1Gi", "-o", "json"},
		{"lifecycle", "-f", podsFile},
		{"lifecycle", "shop/crash", "-f", podsFile},
		{"lifecycle", "shop/well", "-f", podsFile, "--node-gone"},
	} {
		if a, b := here.run(t, args...), online.run(t, args...); a != b || a.out == "" {
			t.Errorf("%v: in the process\n%+v\nby the server\n%+v", args, a, b)
		}
	}
}

// TestServerRefusesTheSame: without a server what is refused is refused in a server's words.
func TestServerRefusesTheSame(t *testing.T) {
	_, online := uploaded(t)
	here := snapshot()
	file := filepath.Join(t.TempDir(), "bad.json")
	for _, spec := range []string{`{"containers":"c"}`, `{"containers":[{"name":"c","resources":{"requests":{"cpu":"-1"}}}]}`, `{"containers":[{"name":"c"}],"overhead":{"cpu":"x"}}`} {
		if err := os.WriteFile(file, []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"shop"},"spec":`+spec+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"explain", "victims", "fit", "admit", "termination"} {
			a, b := here.run(t, command, "-f", file), online.run(t, command, "-f", file)
			if a.err != b.err || a.code != b.code || a.err == "" && command != "admit" && command != "termination" {
				t.Errorf("%s of %s: in the process\n%+v\nby the server\n%+v", command, spec, a, b)
			}
		}
	}
}

// podFile writes one pod of the fixture to a file of its own.
func podFile(t *testing.T, name string) string {
	t.Helper()
	a := &app{}
	in, err := a.readInput(filepath.Join("testdata", "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range in.pods {
		if p.name == name {
			file := filepath.Join(t.TempDir(), name+".json")
			if err := os.WriteFile(file, p.whole, 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	t.Fatalf("no pod %s", name)
	return ""
}

// What a server refuses is said in its words, with what to do next.
func TestServerRefuses(t *testing.T) {
	url, asked := uploaded(t)
	elsewhere := call{env: map[string]string{"BERTH_SERVER": url}}
	for _, c := range []struct {
		from call
		args []string
		want []string
	}{
		{asked, []string{"explain", "shop/none"}, []string{"berth: prod@1 has no pod shop/none", "explain -"}},
		{elsewhere, []string{"explain", "shop/small"}, []string{"default@latest", "/v1/clusters"}},
		{asked, []string{"explain", "shop/small", "--profile", "other"}, []string{`no profile "other"`}},
		{call{}, []string{"explain", "x", "--server", "http://127.0.0.1:1"}, []string{"127.0.0.1:1", "readyz"}},
		{call{}, []string{"explain", "x", "--server", "localhost"}, []string{"is no URL", "http://127.0.0.1:8080"}},
	} {
		r := c.from.run(t, c.args...)
		if r.code != exitBroken || r.out != "" {
			t.Errorf("%v: %+v", c.args, r)
		}
		for _, w := range c.want {
			if !strings.Contains(r.err, w) {
				t.Errorf("%v: no %q in %q", c.args, w, r.err)
			}
		}
	}
}

// Another configuration decides otherwise, at a server as in the process.
func TestConfig(t *testing.T) {
	config := filepath.Join(t.TempDir(), "packed.yaml")
	err := os.WriteFile(config, []byte(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins: {score: {disabled: [{name: NodeAfinity}]}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, asked := uploaded(t)
	file := podFile(t, "small")
	a := snapshot().run(t, "explain", "-f", file, "--config", config)
	if b := asked.run(t, "explain", "-f", file, "--config", config); a != b {
		t.Errorf("in the process\n%+v\nby the server\n%+v", a, b)
	}
	if !strings.Contains(a.out, "It would go to n-c1, one of 2 equally good ones") {
		t.Errorf("not packed: %s", a.out)
	}
	if !strings.Contains(a.err, "note: --config "+config+": profiles[0].plugins.score.disabled[0]: NodeAfinity is not a plugin") {
		t.Errorf("the misspelt plugin is passed over without a word: %s", a.err)
	}
	bad := snapshot().run(t, "explain", "-f", file, "--config", file)
	if bad.code != exitBroken || !strings.Contains(bad.err, "--config") {
		t.Errorf("%+v", bad)
	}
}

// The queue of an older revision is shown as it was when that was made.
func TestQueueOfRevision(t *testing.T) {
	url, online := uploaded(t)
	now := online.run(t, "queue")
	post(t, url+"/v1/snapshots?cluster=prod", []byte(`{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}]}`))
	online.env["BERTH_CLUSTER"] = "prod@1"
	_, rows, _ := strings.Cut(now.out, "\n\n")
	old := online.run(t, "queue")
	for _, pod := range []string{"shop/huge", "shop/gated"} {
		if !strings.Contains(old.out, pod) || !strings.Contains(rows, pod) {
			t.Errorf("no %s in %+v", pod, old)
		}
	}
	if old.code != exitYes || !strings.Contains(old.out, "prod@1 at 2") {
		t.Errorf("%+v", old)
	}
	online.env["BERTH_CLUSTER"] = "prod"
	if newest := online.run(t, "queue"); strings.Contains(newest.out, "shop/huge") || newest.code != exitYes {
		t.Errorf("%+v", newest)
	}
	online.env["BERTH_CLUSTER"] = "prod@9"
	if r := online.run(t, "queue"); r.code != exitBroken || !strings.Contains(r.err, "prod@9") {
		t.Errorf("%+v", r)
	}
	if r := online.run(t, "queue", "--profile", "other"); r.code != exitBroken || !strings.Contains(r.err, "own configuration") {
		t.Errorf("%+v", r)
	}
}

// A pod that a change may have helped shows which; the others show nothing there.
func TestQueueShowsWhatWoke(t *testing.T) {
	url, online := uploaded(t)
	if r := online.run(t, "queue"); strings.Contains(r.out, "WOKEN") {
		t.Errorf("a column without a value: %s", r.out)
	}
	post(t, url+"/v1/decisions", []byte(`{"snapshot":"prod@latest","podRef":{"namespace":"shop","name":"huge"}}`))
	post(t, url+"/v1/snapshots/prod@latest/changes", []byte(`{"apply":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"large"},"status":{"allocatable":{"cpu":"9000","memory":"9000Gi","pods":"110"}}}]}`))
	r := online.run(t, "queue", "-o", "wide")
	if r.code != exitYes || !strings.Contains(r.out, "WOKEN BY") || !strings.Contains(r.out, "NodeAdd of Node large in prod@2 (NodeResourcesFit)") {
		t.Errorf("%+v", r)
	}
}

// Revisions of a server differ as the dumps that they were made of.
func TestRevisionsDiffAsDumps(t *testing.T) {
	url, online := uploaded(t)
	post(t, url+"/v1/snapshots?cluster=prod", []byte(mustRead(t, odd)))
	online.env["BERTH_CLUSTER"] = ""
	a, b := (call{}).run(t, "diff", fixture, odd), online.run(t, "diff", "prod@1", "prod@latest")
	_, files, _ := strings.Cut(a.out, "\n")
	_, revisions, _ := strings.Cut(b.out, "\n")
	if files != revisions || !strings.Contains(files, "status.allocatable.cpu") || a.code != exitNo || b.code != exitNo {
		t.Errorf("of files\n%+v\nof revisions\n%+v", a, b)
	}
	if r := online.run(t, "diff", fixture, odd); r.code != exitBroken || !strings.Contains(r.err, "prod@1 and prod@latest") {
		t.Errorf("%+v", r)
	}
}

// TestWaitingOfRevision: who waits, and the classes, of an older revision are those of the dump
// that it was made of.
func TestWaitingOfRevision(t *testing.T) {
	url, online := uploaded(t)
	here := snapshot()
	post(t, url+"/v1/snapshots?cluster=prod", []byte(`{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}]}`))
	online.env["BERTH_CLUSTER"] = "prod@1"
	for _, args := range [][]string{{"pending", "-A"}, {"classes"}} {
		_, a, _ := strings.Cut(here.run(t, args...).out, "\n\n")
		_, b, _ := strings.Cut(online.run(t, args...).out, "\n\n")
		if a != b || a == "" {
			t.Errorf("%v: of the dump\n%s\nof the revision\n%s", args, a, b)
		}
		online.env["BERTH_CLUSTER"] = "prod"
		if r := online.run(t, args...); strings.Contains(r.out, "shop/huge") {
			t.Errorf("%v: the newest revision has the pods of the one before: %s", args, r.out)
		}
		online.env["BERTH_CLUSTER"] = "prod@1"
		if r := online.run(t, append(args, "--profile", "other")...); r.code != exitBroken || !strings.Contains(r.err, "own configuration") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// TestWorkloadOfFile: a workload of a file is named as kubectl names it.
func TestWorkloadOfFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dep.json")
	manifest := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q,"namespace":"shop"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":%q}},"template":{"metadata":{"labels":{"app":%q}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, name, name, name)
	}
	if err := os.WriteFile(file, []byte(manifest("web")+"\n"+manifest("other")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"deploy/web", "-n", "shop"}, {"deployment/web", "-n", "shop"}} {
		r := snapshot().run(t, append([]string{"explain", "-f", file}, args...)...)
		if r.code == exitBroken || !strings.Contains(r.out, "shop/web-") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	for _, args := range [][]string{{"deploy/none", "-n", "shop"}, {"sts/web", "-n", "shop"}, {"deploy/web"}} {
		if r := snapshot().run(t, append([]string{"explain", "-f", file}, args...)...); r.code != exitBroken || !strings.Contains(r.err, "that makes pods") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
