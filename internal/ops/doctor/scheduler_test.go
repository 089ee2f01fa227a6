package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/engine"
	"berth/internal/semantics"
)

// file is a configuration that is in order for ours, with its lines replaced.
func file(replace ...string) []byte {
	const good = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
extenders:
- urlPrefix: http://127.0.0.1:8080/clusters/prod
  filterVerb: filter
  prioritizeVerb: prioritize
  weight: 1
  nodeCacheCapable: true
  ignorable: true
  httpTimeout: 5s
`
	return []byte(strings.NewReplacer(replace...).Replace(good))
}

func ours() Server {
	return Server{Deadline: 4 * time.Second, BindTimeout: 3 * time.Second, Followed: []string{"prod"}, Profiles: config.Default(semantics.Default())}
}

func withTLS() Server {
	s := ours()
	s.TLS, s.ClientCerts = true, true
	return s
}

// TestScheduler: each bad case has its own finding, and the good one none.
func TestScheduler(t *testing.T) {
	const binds = "filterVerb: filter\n  bindVerb: bind"
	const https, http = "https://127.0.0.1:8443", "http://127.0.0.1:8080"
	tests := []struct {
		name    string
		replace []string
		server  Server
		level   Level
		want    string
	}{
		{"good", nil, ours(), OK, "calls filter, prioritize for cluster prod"},
		{"a slash at the end", []string{"/clusters/prod", "/clusters/prod/"}, ours(), OK, "calls filter, prioritize for cluster prod"},
		{"verbs with a mode", []string{"filterVerb: filter", "filterVerb: shadow/filter"}, ours(), OK, "calls filter"},
		{"not a configuration", []string{"kind: Kube", "kind: Cube"}, ours(), Problem, "kind"},
		{"no weight", []string{"weight: 1", "weight: 0"}, ours(), Problem, "weight"},
		{"no URL", []string{http, "berth:8080"}, ours(), Problem, "is no http or https URL"},
		{"another service", []string{"/clusters/prod", "/gpu"}, ours(), Problem, "no extender of the file calls berth"},
		{"another path", []string{"filterVerb: filter", "filterVerb: filters"}, ours(), Problem, "/clusters/prod/filters, which berth answers with 404"},
		{"another verb", []string{"filterVerb: filter", "filterVerb: prioritize"}, ours(), Problem, "leads to another call"},
		{"a shadow that binds", []string{"filterVerb: filter", "bindVerb: shadow/bind"}, ours(), Problem, "which berth answers with 404"},
		{"impatient", []string{"5s", "4s"}, ours(), Problem, "gives up before berth answers"},
		{"short of time", []string{"5s", "4200ms"}, ours(), Warning, "leaves little beyond"},
		{"the default timeout", []string{"  httpTimeout: 5s\n", ""}, Server{Deadline: 6 * time.Second}, Problem, "httpTimeout 5s is not above --extender-deadline 6s"},
		{"whole nodes", []string{"nodeCacheCapable: true", "nodeCacheCapable: false"}, ours(), Warning, "whole nodes are sent"},
		{"fail-closed", []string{"ignorable: true", "ignorable: false"}, ours(), OK, "no pod is placed while berth is away"},
		{"a sample of nodes", []string{"percentageOfNodesToScore: 100\n", ""}, ours(), Warning, "only a sample"},
		{"managed", []string{"weight: 1", "weight: 1\n  managedResources: [{name: example.com/gpu}]"}, ours(), Warning, "request example.com/gpu alone"},
		{"ignored by kube-scheduler", []string{"weight: 1", "weight: 1\n  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]"}, ours(), Warning, "does not count example.com/gpu"},
		{"ignorable bind", []string{"filterVerb: filter", binds}, ours(), Problem, "done once more"},
		{"slow bind", []string{"filterVerb: filter", binds, "5s", "2900ms"}, ours(), Problem, "not above --bind-timeout"},
		{"bind not followed", []string{"filterVerb: filter", binds, "prod", "other"}, ours(), Problem, "does not follow cluster other"},
		{"bind undecided", []string{"filterVerb: filter\n  prioritizeVerb: prioritize\n  weight: 1", "bindVerb: bind"}, ours(), Problem, "is not called to decide"},
		{"no TLS here", []string{http, https}, ours(), Problem, "the server's listener serves none"},
		{"no TLS there", nil, withTLS(), Problem, "calls without TLS"},
		{"in clear text", []string{"127.0.0.1", "berth.example"}, ours(), Warning, "in clear text"},
		{"no authority", []string{http, https, "weight: 1", "weight: 1\n  enableHTTPS: true"}, withTLS(), Problem, "verifies no certificate"},
		{"insecure", []string{http, https, "weight: 1", "weight: 1\n  tlsConfig: {insecure: true}"}, withTLS(), Problem, "verifies no certificate"},
		{"the system's authorities", []string{http, https}, withTLS(), Warning, "authority of kube-scheduler's machine"},
		{"no client certificate", []string{http, https}, withTLS(), Problem, "has no client certificate"},
		{"a client certificate elsewhere", []string{http, https, "weight: 1", "weight: 1\n  enableHTTPS: true\n  tlsConfig: {certFile: /no/such, keyFile: /no/such, caFile: /no/such}"}, withTLS(), OK, "not on this machine"},
		{"another profile", []string{"extenders:", "profiles: [{schedulerName: mine}]\nextenders:"}, ours(), Warning, "profile mine is not among the server's"},
		{"another plugin", []string{"extenders:", "profiles: [{plugins: {score: {disabled: [{name: ImageLocality}]}}}]\nextenders:"}, ours(), Warning, "other plugins or arguments"},
	}
	for _, tt := range tests {
		list, _ := Scheduler(file(tt.replace...), tt.server)
		worst, found := OK, false
		for _, f := range list {
			if f.Level == Problem || f.Level == Warning && worst == OK {
				worst = f.Level
			}
			found = found || f.Level == tt.level && strings.Contains(f.Text, tt.want)
			if (f.Remedy == "") != (f.Level == OK) {
				t.Errorf("%s: %s without a remedy, or one too many: %+v", tt.name, f.Level, f)
			}
		}
		if !found || tt.level == OK && worst != OK {
			t.Errorf("%s: want %s %q in\n%s", tt.name, tt.level, tt.want, Text(list))
		}
	}
}

// TestText: 80 columns hold, and the exit code is that of the worst finding.
func TestText(t *testing.T) {
	r := &Report{Check: "disk"}
	r.Good("in order")
	if code := ExitCode(r.Findings); code != 0 {
		t.Error(code)
	}
	r.Warn("Do this.", "%s", strings.Repeat("wörd ", 40)+strings.Repeat("x", 200))
	if code := ExitCode(r.Findings); code != 1 {
		t.Error(code)
	}
	r.Cluster = "prod"
	r.Fail("Do that.", "is broken")
	r.Warn("Do this.", "again")
	if code := ExitCode(r.Findings); code != 2 {
		t.Error(code)
	}
	text := Text(r.Findings)
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"problem  disk         prod: is broken\n                      -> Do that.\n", "1 ok, 2 warnings, 1 problem\n", strings.Repeat("x", 200-3*(width-indent))} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if got := fmt.Sprint(strings.Count(text, "x")); got != "200" {
		t.Errorf("%s of 200 letters are left", got)
	}
}

// TestSchedulerOfACluster: the file is read as the release of the cluster that it calls for.
func TestSchedulerOfACluster(t *testing.T) {
	next, err := semantics.Parse("v1.37")
	if err != nil {
		t.Fatal(err)
	}
	of := ours()
	of.Clusters = map[string][]*engine.Profile{"next": config.Default(next)}
	text := string(file()) + "profiles: [{plugins: {permit: {enabled: [{name: DeferredPodScheduling}]}}}]\n"
	list, _ := Scheduler([]byte(text), of)
	has(t, "the server's release", list, Problem, "is not a plugin of Kubernetes v1.36")
	list, _ = Scheduler([]byte(strings.Replace(text, "/clusters/prod", "/clusters/next", 1)), of)
	has(t, "the cluster's", list, OK, "the profiles are the server's")
}
