package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/revision"
	"berth/internal/semantics"
)

// First errors name the next step.
func TestFirstErrors(t *testing.T) {
	cluster := filepath.Join("testdata", "cluster.yaml")
	for _, c := range []struct {
		name string
		from call
		args []string
		want []string
	}{
		{"nobody to ask", call{}, []string{"explain", "web"}, []string{"no data source: pass --server, --snapshot or --kubeconfig", "kubectl get nodes,pods", "BERTH_SERVER"}},
		{"no pod", call{}, []string{"explain"}, []string{"which pod?", "-f FILE"}},
		{"no such command", call{}, []string{"explian", "web"}, []string{`unknown command "explian"`, "explain"}},
		{"no zones", call{}, []string{"drain", "--each", "zone", "--snapshot", drains}, []string{"each: want node"}},
		{"no number", call{}, []string{"drain", "n-a1", "--grace-period", "abc"}, []string{`--grace-period "abc": want a whole number`, "See berth drain --help."}},
		{"no such flag", call{}, []string{"explain", "web", "--serve", "x"}, []string{"unknown flag: --serve", "See berth explain --help."}},
		{"two sources", call{}, []string{"explain", "web", "--server", "http://x", "--snapshot", "y"}, []string{"give one of"}},
		{"no such release", snapshot(), []string{"explain", "shop/small", "--semantics", "v1.99"}, []string{"--semantics: unknown release", semantics.Known()}},
		{"form", snapshot(), []string{"explain", "web", "-o", "xml"}, []string{"-o xml", "json"}},
		{"colour", snapshot(), []string{"explain", "web", "--color", "red"}, []string{"--color red", "never"}},
		{"no file", call{}, []string{"explain", "web", "--snapshot", "nowhere.json"}, []string{"nowhere.json"}},
		{"bad pod", snapshot(), []string{"explain", "a/b/c"}, []string{`"a/b/c" does not name a pod`}},
		{"no such pod", snapshot(), []string{"explain", "small"}, []string{"has no pod default/small", "-n shop"}},
		{"no such pod anywhere", snapshot(), []string{"explain", "nobody"}, []string{"has no pod default/nobody", "-f pod.json"}},
		{"no such node", snapshot(), []string{"explain", "shop/huge", "--node", "n-q"}, []string{"no node n-q", "--all"}},
		{"node of a gated pod", snapshot(), []string{"explain", "shop/gated", "--node", "n-a1"}, []string{"gated"}},
		{"both", snapshot(), []string{"explain", "shop/huge", "--node", "n-a1", "--all"}, []string{"one of --node and --all"}},
		{"several pods", snapshot(), []string{"explain", "-f", podsFile}, []string{"holds 5 pods", "-f " + podsFile}},
		{"not among them", snapshot(), []string{"explain", "crash", "-f", podsFile}, []string{"holds no pod default/crash", "-n shop"}},
		{"stdin twice", call{in: "x"}, []string{"explain", "-", "--snapshot", "-"}, []string{"stdin"}},
		{"nothing piped in", call{typed: true}, []string{"explain", "-", "--snapshot", cluster}, []string{"nothing comes in", "kubectl get pod"}},
		{"nothing piped in for a life", call{typed: true}, []string{"lifecycle"}, []string{"whole", "kubectl get pod NAME -o json | berth"}},
		{"empty", call{}, []string{"lifecycle", "-"}, []string{"it contains no pod"}},
		{"empty snapshot", call{}, []string{"explain", "x", "--snapshot", "-"}, []string{"stdin", "empty", "kubectl get nodes"}},
		{"no YAML", call{in: "a: 1\nb: [\n"}, []string{"explain", "x", "--snapshot", "-"}, []string{"stdin: bad YAML in the dump: yaml: line 2:"}},
		{"no name", call{in: `{"kind":"Pod","metadata":{}}`, env: snapshot().env}, []string{"explain", "-"}, []string{"is invalid: pod.metadata.name: Required value"}},
		{"no JSON", call{in: "{"}, []string{"lifecycle", "-"}, []string{"stdin", "kubectl get pod"}},
		{"no pod at all", call{in: `{"kind":"Node","metadata":{"name":"n"}}`}, []string{"lifecycle", "-"}, []string{"it contains no pod"}},
		{"no pod's shape", call{in: `{"kind":"Pod","metadata":{"name":"n"},"spec":{"containers":7}}`}, []string{"lifecycle", "-"}, []string{"default/n"}},
		{"no Deployment", snapshot(), []string{"rollout", "-f", podsFile}, []string{"has no Deployment", "-f FILE"}},
		{"no workload that rolls out", snapshot(), []string{"rollout", "job/web", "-f", podsFile}, []string{"job/web is none of Deployment, StatefulSet, DaemonSet", "sts/NAME"}},
		{"several that could be meant", snapshot(), []string{"rollout", "-f", filepath.Join("testdata", "sets.yaml")}, []string{"holds 3 workloads that could be meant", "Name one of them, such as statefulset/db"}},
		{"another Deployment", snapshot(), []string{"rollout", "deploy/web", "-f", podsFile}, []string{"has no Deployment deploy/web"}},
		{"one to compare", call{}, []string{"diff", "a.json"}, []string{"compares two, not 1", "diff A B"}},
		{"now", call{}, []string{"lifecycle", "-f", podsFile, "--now", "soon"}, []string{"--now", "2026-01-31T12:00:00Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.from.run(t, c.args...)
			if r.code != exitBroken || r.out != "" {
				t.Errorf("%+v", r)
			}
			for _, w := range c.want {
				if !strings.Contains(r.err, w) {
					t.Errorf("no %q in %q", w, r.err)
				}
			}
		})
	}
}

// The flag that is typed wins over the environment.
func TestFlagWinsOverEnvironment(t *testing.T) {
	c := snapshot()
	c.env["BERTH_SERVER"] = "http://127.0.0.1:1"
	if r := c.run(t, "explain", "shop/small"); r.code != exitBroken || !strings.Contains(r.err, "give one of") {
		t.Errorf("%+v", r)
	}
	file := c.env["BERTH_SNAPSHOT"]
	delete(c.env, "BERTH_SNAPSHOT")
	r := c.run(t, "explain", "shop/small", "--snapshot", file)
	if r.code != exitYes || !strings.Contains(r.out, "berth explain shop/small --snapshot "+file+" --node") {
		t.Errorf("%+v", r)
	}
}

// As a plugin of kubectl it speaks of itself as such, with the same answers.
func TestPlugin(t *testing.T) {
	plugin := snapshot()
	plugin.program = "/home/me/.krew/bin/kubectl-berth"
	a, b := snapshot().run(t, "explain", "shop/huge"), plugin.run(t, "explain", "shop/huge")
	if strings.NewReplacer("berth explain", "kubectl berth explain", "berth pools", "kubectl berth pools").Replace(a.out) != b.out || a.code != b.code {
		t.Errorf("%s\n%s", a.out, b.out)
	}
	plugin.program = `kubectl-berth.exe`
	for args, want := range map[string]string{"": "kubectl berth explain shop/checkout", "explain --help": "kubectl berth explain POD", "nothing": "kubectl berth: unknown"} {
		r := plugin.run(t, strings.Fields(args)...)
		if !strings.Contains(r.out+r.err, want) {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

// Help is for 80 columns too, and names every flag's variable.
func TestHelp(t *testing.T) {
	for _, c := range [][]string{{}, {"help"}, {"explain"}, {"victims"}, {"spread"}, {"lifecycle"}, {"version"}, {"completion"}} {
		r := call{}.run(t, append(c, "--help")...)
		if r.code != exitYes || r.err != "" || !strings.Contains(r.out, "Usage:") || !strings.Contains(r.out, "Exit codes: 0 yes, 2 no, 1 failure") {
			t.Errorf("%v: %+v", c, r)
		}
		// A command to copy keeps its line.
		within(t, standardWidth, strings.ReplaceAll(r.out, revision.Collect, "kubectl get"))
	}
	if r := (call{}).run(t); !strings.Contains(r.out, "kubectl get nodes") || !strings.Contains(r.out, "$BERTH_SERVER") {
		t.Errorf("%+v", r)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := (call{}).run(t, "completion", shell); r.code != exitYes || !strings.Contains(r.out, "berth") {
			t.Errorf("%s: %d %s", shell, r.code, r.err)
		}
	}
	for args, want := range map[string]string{"termination --cause evict-": "evict-soft", "explain -o w": "wide", "spread --color n": "never"} {
		if r := (call{}).run(t, append([]string{"__complete"}, strings.Fields(args)...)...); !strings.Contains(r.out, want+"\n") {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if r := (call{}).run(t, "__complete", "vic"); !strings.Contains(r.out, "victims") {
		t.Errorf("%+v", r)
	}
}

func TestVersion(t *testing.T) {
	if r := (call{}).run(t, "version"); r.code != exitYes || !strings.Contains(r.out, "berth v1 (engine v") || !strings.Contains(r.out, "c0ffee") || !strings.Contains(r.out, "knows "+semantics.Known()) {
		t.Errorf("%+v", r)
	}
	var v map[string]any
	r := call{}.run(t, "version", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &v); err != nil || v["version"] != "v1" || v["semantics"] == "" || v["engine"] == "" || v["releases"] == nil {
		t.Errorf("%v %+v", err, r)
	}
}

// JSON is the object of the API, and nothing else is on stdout.
func TestJSON(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"explain", "shop/huge", "--decision"}, exitNo, "Unschedulable"},
		{[]string{"victims", "shop/checkout"}, exitYes, "Preempting"},
		{[]string{"spread", "shop/apart"}, exitNo, "Unschedulable"},
	} {
		r := snapshot().run(t, append(c.args, "-o", "json")...)
		var got struct {
			Outcome, Message, Digest string
			Counts                   struct{ Nodes int }
		}
		if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Outcome != c.want || got.Counts.Nodes != 9 || got.Digest == "" || r.code != c.code || r.err != "" {
			t.Errorf("%v: %v %+v", c.args, err, r)
		}
	}
	r := snapshot().run(t, "explain", "shop/huge", "--all", "-o", "json")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	var node struct{ Name, Plugin string }
	if err := json.Unmarshal([]byte(lines[0]), &node); err != nil || len(lines) != 9 || node.Name != "n-a1" || node.Plugin != "NodeResourcesFit" {
		t.Errorf("%v %+v", err, r)
	}
	r = snapshot().run(t, "explain", "shop/huge", "--node", "n-b2", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &node); err != nil || node.Plugin != "NodeUnschedulable" || r.code != exitNo {
		t.Errorf("%v %+v", err, r)
	}
}

// Colours are for terminals, and for those who ask.
func TestColour(t *testing.T) {
	const red = "\x1b[31;1mPENDING\x1b[0m  shop/huge"
	with := func(columns int, env ...string) call {
		c := snapshot()
		c.columns = columns
		for i := 0; i < len(env); i += 2 {
			c.env[env[i]] = env[i+1]
		}
		return c
	}
	for _, c := range []struct {
		from call
		args []string
		want bool
	}{
		{with(0), nil, false},
		{with(80), nil, true},
		{with(80, "NO_COLOR", "1"), nil, false},
		{with(80, "TERM", "dumb"), nil, false},
		{with(80, "NO_COLOR", "1"), []string{"--color", "always"}, true},
		{with(0, "BERTH_COLOR", "always"), nil, true},
		{with(80), []string{"--color", "never"}, false},
	} {
		r := c.from.run(t, append([]string{"explain", "shop/huge"}, c.args...)...)
		if got := strings.HasPrefix(r.out, red); got != c.want || strings.Contains(r.out, "\x1b") != c.want {
			t.Errorf("%+v %v: %.60q", c.from.env, c.args, r.out)
		}
	}
}

// The whole of a terminal is used, and COLUMNS counts in one and in a pipe.
func TestWidth(t *testing.T) {
	longest := func(columns int, env string, args ...string) (most int) {
		c := snapshot()
		c.columns, c.env["NO_COLOR"], c.env["COLUMNS"] = columns, "1", env
		for _, l := range strings.Split(c.run(t, append([]string{"explain", "shop/huge"}, args...)...).out, "\n") {
			most = max(most, len(l))
		}
		return most
	}
	for _, c := range []struct {
		columns     int
		env         string
		least, most int
	}{
		{0, "", 70, 80},
		{20, "", 30, 40},
		{60, "", 50, 60},
		{110, "", 81, 110},
		{170, "", 121, 170},
		{0, "100", 81, 100},
		{80, "100", 81, 100},
		{0, "no", 70, 80},
		{0, "0", 70, 80},
	} {
		if n := longest(c.columns, c.env); n > c.most || n < c.least {
			t.Errorf("%+v: %d", c, n)
		}
	}
	if n := longest(80, "", "-o", "wide"); n < 200 {
		t.Errorf("%d", n)
	}
}
