package handlers

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/handlers/extender"
	"berth/internal/handlers/extender/wire"
	"berth/internal/handlers/limits"
	"berth/internal/kube/object"
	"berth/internal/semantics"
)

func example(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("../../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestExamplesAreRead: what a newcomer is told to send is what the decoders take.
func TestExamplesAreRead(t *testing.T) {
	kinds := map[string]int{}
	ignored, err := object.Read(bytes.NewReader(example(t, "cluster.yaml")), object.YAML, object.Limits{}, func(o object.Object) error {
		kinds[o.Kind]++
		return nil
	})
	if err != nil || len(ignored) > 0 || kinds["Node"] == 0 || kinds["Pod"] == 0 {
		t.Errorf("cluster.yaml: %v, kept %v, ignored %v", err, kinds, ignored)
	}
	c, err := config.Read(example(t, "kube-scheduler.yaml"), semantics.Default())
	if err != nil || len(c.Profiles) != 1 {
		t.Errorf("kube-scheduler.yaml: %v, %v", c, err)
	}
	var args wire.FilterArgs
	if err := new(wire.Parser).FilterArgs(example(t, "filter.json"), &args); err != nil || !args.HasNames || args.Pod == nil {
		t.Fatalf("filter.json: %v", err)
	}
	filtered, err := object.DecodePod(args.Pod, object.Limits{})
	if err != nil {
		t.Fatalf("filter.json: %v", err)
	}
	var q struct {
		Pod json.RawMessage `json:"pod"`
	}
	if err := json.Unmarshal(example(t, "decision.json"), &q); err != nil {
		t.Fatal(err)
	}
	decided, err := object.DecodePod(q.Pod, object.Limits{})
	if err != nil {
		t.Fatalf("decision.json: %v", err)
	}
	if diff := cmp.Diff(filtered, decided); diff != "" {
		t.Errorf("the pods of filter.json and decision.json differ (-filter +decision):\n%s", diff)
	}
	_, err = object.Read(bytes.NewReader(example(t, "pods.yaml")), object.YAML, object.Limits{}, func(o object.Object) error {
		if o.Name != decided.Name {
			return nil
		}
		kinds["web-4"]++
		if diff := cmp.Diff(o.Value, any(decided)); diff != "" {
			t.Errorf("the pods of pods.yaml and decision.json differ (-pods +decision):\n%s", diff)
		}
		return nil
	})
	if err != nil || kinds["web-4"] != 1 {
		t.Errorf("pods.yaml: %v, %d pods web-4", err, kinds["web-4"])
	}
}

// TestExamplesAreAnswered sends the examples to a server and holds the guides'
// answers to it.
func TestExamplesAreAnswered(t *testing.T) {
	h := start(t, nil)
	h.want(201, nil, "POST", "/v1/snapshots?cluster=demo", string(example(t, "cluster.yaml")), "Content-Type", "application/yaml")
	var d decision.Answer
	h.want(201, &d, "POST", "/v1/decisions", string(example(t, "decision.json")))
	if d.Outcome != "Scheduled" || d.Node != "node-c1" || len(d.Nodes) != 6 || len(d.Spread) != 1 {
		t.Errorf("decision.json: %s on %q with %d nodes", d.Outcome, d.Node, len(d.Nodes))
	}
	var f extender.ExtenderFilterResult
	h.want(200, &f, "POST", "/clusters/demo/filter", string(example(t, "filter.json")))
	if f.NodeNames == nil || !slices.Equal(*f.NodeNames, []string{"node-c1"}) || len(f.FailedNodes) != 2 || len(f.FailedAndUnresolvableNodes) != 1 {
		t.Errorf("filter.json on /filter: %+v", f)
	}
	var p []extender.HostPriority
	h.want(200, &p, "POST", "/clusters/demo/prioritize", string(example(t, "filter.json")))
	if len(p) != 4 || p[3] != (extender.HostPriority{Host: "node-c1", Score: 10}) || p[2] != (extender.HostPriority{Host: "node-b2", Score: 0}) {
		t.Errorf("filter.json on /prioritize: %+v", p)
	}
}

// TestExtenderGuide holds docs/extender.md to the example that it shows and to
// the limits' defaults that it lists.
func TestExtenderGuide(t *testing.T) {
	raw, err := os.ReadFile("../../docs/extender.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(raw)
	_, block, _ := strings.Cut(guide, "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	shown := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(example(t, "kube-scheduler.yaml")), "")
	if diff := cmp.Diff(strings.TrimSpace(shown), strings.TrimSpace(block)); diff != "" {
		t.Errorf("the configuration shown is not the example (-example +guide):\n%s", diff)
	}
	defaults := limits.FixedValues()
	limits := reflect.TypeFor[limits.Limits]()
	for i := range limits.NumField() {
		defaults[limits.Field(i).Tag.Get("name")] = limits.Field(i).Tag.Get("default")
	}
	rows := regexp.MustCompile("(?m)^\\| (`[a-z-]+-.*`) \\| (.*?) \\|").FindAllStringSubmatch(guide, -1)
	if len(rows) < 6 {
		t.Fatalf("%d rows of limits", len(rows))
	}
	for _, row := range rows {
		values := strings.Split(row[2], ", ")
		for i, name := range strings.Split(row[1], ", ") {
			name = strings.TrimPrefix(strings.Trim(name, "`"), "--")
			if i >= len(values) || defaults[name] != values[i] {
				t.Errorf("--%s has the default %q; the guide says %q", name, defaults[name], row[2])
			}
		}
	}
}
