package config_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"berth/internal/config"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// one is a configuration with a single profile of the given body.
func one(body string) string {
	return head + "profiles:\n- " + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n  ") + "\n"
}

func specOf(t *testing.T, p *engine.Profile) rules.Spec {
	t.Helper()
	var s rules.Spec
	if err := json.Unmarshal(p.Payload, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, doc string) *config.Config {
	t.Helper()
	c, err := config.Read([]byte(doc), semantics.Default())
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return c
}

// without takes names out of a list.
func without(list []string, names ...string) []string {
	var out []string
	for _, l := range list {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+l+" ") {
			out = append(out, l)
		}
	}
	return out
}

func weigh(list []rules.Enabled, name string, weight int64) []rules.Enabled {
	var out []rules.Enabled
	for _, e := range list {
		if e.Name != name {
			out = append(out, e)
		} else if weight != 0 {
			out = append(out, rules.Enabled{Name: name, Weight: weight})
		}
	}
	return out
}

func front(list []rules.Enabled, name string, weight int64) []rules.Enabled {
	return append([]rules.Enabled{{Name: name, Weight: weight}}, weigh(list, name, 0)...)
}

func back(list []rules.Enabled, name string, weight int64) []rules.Enabled {
	return append(weigh(list, name, 0), rules.Enabled{Name: name, Weight: weight})
}

func TestDefaultIsUpstreams(t *testing.T) {
	want := rules.DefaultSpec()
	for name, doc := range map[string]string{
		"nothing said":    head,
		"an empty list":   head + "profiles: []\n",
		"an empty object": head + "profiles:\n- {}\n",
		"all spelt out": one(`schedulerName: default-scheduler
pluginConfig:
- name: NodeResourcesFit
  args:
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: NodeResourcesFitArgs
    scoringStrategy: {type: LeastAllocated, resources: [{name: cpu}, {name: memory, weight: 1}]}
- name: NodeResourcesBalancedAllocation
  args: {resources: [{name: cpu, weight: 1}, {name: memory}]}
- name: PodTopologySpread
  args: {defaultingType: System}
- name: InterPodAffinity
  args: {hardPodAffinityWeight: 1}
- name: DefaultPreemption
  args: {minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100}
- name: NodeAffinity
  args: {addedAffinity: {}}
- name: VolumeBinding
  args: null`),
		"off and on again": one("plugins: {multiPoint: {enabled: [{name: NodeAffinity, weight: 2}]}}"),
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, doc).Profiles
			if len(got) != 1 {
				t.Fatalf("%d profiles", len(got))
			}
			if diff := cmp.Diff(want, specOf(t, got[0])); diff != "" {
				t.Error(diff)
			}
			if d := config.Default(semantics.Default())[0].Digest; got[0].Digest != d {
				t.Errorf("digest %s, the default's is %s", got[0].Digest, d)
			}
		})
	}
}

// TestPlugins pins merging and expansion. The expectations follow from
// mergePluginSet and expandMultiPointPlugins of v1.36.3.
func TestPlugins(t *testing.T) {
	for _, c := range []struct {
		name, body string
		edit       func(*rules.Spec)
	}{
		{"one off everywhere", "plugins: {multiPoint: {disabled: [{name: NodePorts}]}}", func(s *rules.Spec) {
			s.PreFilter, s.Filter = without(s.PreFilter, "NodePorts"), without(s.Filter, "NodePorts")
		}},
		{"one off at a point", "plugins: {score: {disabled: [{name: ImageLocality}]}}", func(s *rules.Spec) {
			s.Score = weigh(s.Score, "ImageLocality", 0)
		}},
		{"no scores", "plugins: {score: {disabled: [{name: '*'}]}}", func(s *rules.Spec) { s.Score = nil }},
		{"no scores but one", "plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 7}]}}", func(s *rules.Spec) {
			s.Score = []rules.Enabled{{Name: "NodeResourcesFit", Weight: 7}}
		}},
		{"a weight at the point goes first", "plugins: {score: {enabled: [{name: ImageLocality, weight: 9}]}}", func(s *rules.Spec) {
			s.Score = front(s.Score, "ImageLocality", 9)
		}},
		{"no weight at the point is 1, not the default", "plugins: {score: {enabled: [{name: TaintToleration}]}}", func(s *rules.Spec) {
			s.Score = front(s.Score, "TaintToleration", 1)
		}},
		{"off and on at the point goes last", "plugins: {score: {disabled: [{name: TaintToleration}], enabled: [{name: TaintToleration, weight: 4}]}}", func(s *rules.Spec) {
			s.Score = back(s.Score, "TaintToleration", 4)
		}},
		{"two at the point keep their order", "plugins: {score: {enabled: [{name: ImageLocality, weight: 2}, {name: NodeAffinity, weight: 5}]}}", func(s *rules.Spec) {
			s.Score = front(front(s.Score, "NodeAffinity", 5), "ImageLocality", 2)
		}},
		{"a weight at multiPoint keeps its place", "plugins: {multiPoint: {enabled: [{name: NodeAffinity, weight: 8}]}}", func(s *rules.Spec) {
			s.Score = weigh(s.Score, "NodeAffinity", 8)
		}},
		{"no weight at multiPoint is 1", "plugins: {multiPoint: {enabled: [{name: PodTopologySpread}]}}", func(s *rules.Spec) {
			s.Score = weigh(s.Score, "PodTopologySpread", 1)
		}},
		{"off and on at multiPoint goes last", "plugins: {multiPoint: {disabled: [{name: TaintToleration}], enabled: [{name: TaintToleration, weight: 3}]}}", func(s *rules.Spec) {
			s.Filter = append(without(s.Filter, "TaintToleration"), "TaintToleration")
			s.Score = back(s.Score, "TaintToleration", 3)
		}},
		{"the point's weight beats multiPoint's", "plugins: {multiPoint: {enabled: [{name: NodeAffinity, weight: 8}]}, score: {enabled: [{name: NodeAffinity, weight: 6}]}}", func(s *rules.Spec) {
			s.Score = front(s.Score, "NodeAffinity", 6)
		}},
		{"twice at multiPoint, hidden by the point", "plugins: {multiPoint: {enabled: [{name: ImageLocality}, {name: ImageLocality}]}, score: {enabled: [{name: ImageLocality, weight: 3}]}}", func(s *rules.Spec) {
			s.Score = front(s.Score, "ImageLocality", 3)
		}},
		{"all off, few on", "plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: NodeResourcesFit, weight: 2}, {name: NodeName}]}}", func(s *rules.Spec) {
			s.PreEnqueue, s.PostFilter = nil, nil
			s.Ungated = []string{s.SchedulerName}
			s.PreFilter, s.Filter = []string{"NodeResourcesFit"}, []string{"NodeResourcesFit", "NodeName"}
			s.Score = []rules.Enabled{{Name: "NodeResourcesFit", Weight: 2}}
		}},
		{"a filter that the point repeats goes first", "plugins: {filter: {enabled: [{name: NodeResourcesFit}]}}", func(s *rules.Spec) {
			s.Filter = append([]string{"NodeResourcesFit"}, without(s.Filter, "NodeResourcesFit")...)
		}},
		{"a score without its preScore", "plugins: {preScore: {disabled: [{name: NodeAffinity}]}}", func(s *rules.Spec) {
			s.Score = slices.Clone(s.Score)
			s.Score[slices.IndexFunc(s.Score, func(e rules.Enabled) bool { return e.Name == "NodeAffinity" })].NoPreScore = true
		}},
		{"no preemption", "plugins: {postFilter: {disabled: [{name: '*'}]}}", func(s *rules.Spec) { s.PostFilter = nil }},
		{"no gates", "plugins: {preEnqueue: {disabled: [{name: SchedulingGates}]}}", func(s *rules.Spec) {
			s.PreEnqueue = without(s.PreEnqueue, "SchedulingGates")
			s.Ungated = []string{s.SchedulerName}
		}},
		{
			"points that are not berth's", "plugins: {queueSort: {enabled: [{name: PrioritySort}]}, bind: {enabled: [{name: DefaultBinder}]}, reserve: {disabled: [{name: VolumeBinding}]}, permit: {enabled: [{name: GangScheduling}]}}",
			func(*rules.Spec) {},
		},
		{"a negative weight that others outweigh counts, as upstream", "plugins: {multiPoint: {enabled: [{name: ImageLocality, weight: -1}]}}", func(s *rules.Spec) {
			s.Score = weigh(s.Score, "ImageLocality", -1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := read(t, one(c.body)).Profiles[0]
			want := rules.DefaultSpec()
			c.edit(&want)
			if diff := cmp.Diff(want, specOf(t, p)); diff != "" {
				t.Error(diff)
			}
			same := cmp.Equal(want, rules.DefaultSpec())
			if (p.Digest == config.Default(semantics.Default())[0].Digest) != same {
				t.Errorf("digest %s says otherwise than the spec", p.Digest)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	affinity := &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}},
	}}}
	for _, c := range []struct {
		plugin, args string
		edit         func(*rules.Args)
	}{
		{"NodeResourcesFit", "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}, {name: nvidia.com/gpu}]}}", func(a *rules.Args) {
			a.NodeResourcesFit.Strategy = rules.MostAllocated
			a.NodeResourcesFit.Resources = []rules.ResourceWeight{{Name: "cpu", Weight: 3}, {Name: "nvidia.com/gpu", Weight: 1}}
		}},
		{"NodeResourcesFit", "{scoringStrategy: {type: MostAllocated}}", func(a *rules.Args) { a.NodeResourcesFit.Strategy = rules.MostAllocated }},
		{"NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}}", func(a *rules.Args) {
			a.NodeResourcesFit.Strategy = rules.RequestedToCapacityRatio
			a.NodeResourcesFit.Shape = []rules.ShapePoint{{}, {Utilization: 100, Score: 10}}
		}},
		{"NodeResourcesFit", "{ignoredResources: [example.com/foo], ignoredResourceGroups: [example.org]}", func(a *rules.Args) {
			a.NodeResourcesFit.IgnoredResources, a.NodeResourcesFit.IgnoredResourceGroups = []string{"example.com/foo"}, []string{"example.org"}
		}},
		{"NodeResourcesBalancedAllocation", "{resources: [{name: cpu}, {name: nvidia.com/gpu, weight: 1}]}", func(a *rules.Args) {
			a.Balanced.Resources = []rules.ResourceWeight{{Name: "cpu", Weight: 1}, {Name: "nvidia.com/gpu", Weight: 1}}
		}},
		{"PodTopologySpread", "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]}", func(a *rules.Args) {
			a.PodTopologySpread = rules.SpreadArgs{Constraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: corev1.DoNotSchedule}}}
		}},
		{"PodTopologySpread", "{defaultingType: List}", func(a *rules.Args) { a.PodTopologySpread = rules.SpreadArgs{} }},
		{"InterPodAffinity", "{hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}", func(a *rules.Args) {
			a.InterPodAffinity = rules.InterPodAffinityArgs{IgnorePreferredTermsOfExistingPods: true}
		}},
		{"InterPodAffinity", "{ignorePreferredTermsOfExistingPods: true}", func(a *rules.Args) { a.InterPodAffinity.IgnorePreferredTermsOfExistingPods = true }},
		{"DefaultPreemption", "{minCandidateNodesAbsolute: 5}", func(a *rules.Args) { a.DefaultPreemption.MinCandidateNodesAbsolute = 5 }},
		{
			"NodeAffinity", "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [a]}]}]}}}",
			func(a *rules.Args) { a.NodeAffinity.AddedAffinity = affinity },
		},
		{"VolumeBinding", "{bindTimeoutSeconds: 30}", func(*rules.Args) {}},
		{"DynamicResources", "{filterTimeout: 20s, bindingTimeout: 60s}", func(a *rules.Args) {
			a.DynamicResources = &rules.DynamicResourcesArgs{BindingTimeout: time.Minute}
		}},
	} {
		t.Run(c.plugin, func(t *testing.T) {
			got := specOf(t, read(t, one("pluginConfig:\n- name: "+c.plugin+"\n  args: "+c.args)).Profiles[0])
			want := rules.DefaultSpec()
			c.edit(&want.Args)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n%s", c.args, diff)
			}
		})
	}
}

// TestStorageShape: with StorageCapacityScoring, VolumeBinding has a shape, and its score needs its
// preFilter.
func TestStorageShape(t *testing.T) {
	under, err := semantics.Parse("v1.36 StorageCapacityScoring=true")
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]*rules.VolumeBindingArgs{
		"{bindTimeoutSeconds: 30}": nil,
		"{shape: []}":              nil,
		"{shape: [{utilization: 0, score: 3}, {utilization: 50, score: 10}]}": {Shape: []rules.ShapePoint{{Score: 3}, {Utilization: 50, Score: 10}}},
	} {
		c, err := config.Read([]byte(one("pluginConfig:\n- name: VolumeBinding\n  args: "+args)), under)
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		if diff := cmp.Diff(want, specOf(t, c.Profiles[0]).Args.VolumeBinding); diff != "" {
			t.Errorf("%s\n%s", args, diff)
		}
	}
	for body, want := range map[string]string{
		"pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 9, score: 11}]}}]":                                                                "shape[0].score: Invalid value: 11: must be in [0, 10]",
		"plugins: {preFilter: {disabled: [{name: VolumeBinding}]}, filter: {disabled: [{name: VolumeBinding}]}}":                                             "plugins.score: Invalid value: \"VolumeBinding\": relies on its preFilter",
		"plugins: {preFilter: {disabled: [{name: VolumeBinding}]}, filter: {disabled: [{name: VolumeBinding}]}, score: {disabled: [{name: VolumeBinding}]}}": "plugins.preScore: Invalid value",
	} {
		if _, err := config.Read([]byte(one(body)), under); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

const two = head + `
profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}
  pluginConfig:
  - name: NodeResourcesFit
    args: {ignoredResources: [example.com/own], scoringStrategy: {type: MostAllocated}}
`

func TestSeveralProfiles(t *testing.T) {
	list := read(t, two).Profiles
	names := []string{"default-scheduler", "packing"}
	for i, p := range list {
		if p.Name != names[i] || !cmp.Equal(p.Siblings, names) {
			t.Errorf("profile %d is %s with siblings %v", i, p.Name, p.Siblings)
		}
	}
	if got := specOf(t, list[0]).Args; !cmp.Equal(got, rules.DefaultArgs()) {
		t.Errorf("the second profile's arguments leaked into the first: %s", cmp.Diff(rules.DefaultArgs(), got))
	}
}

// Whether a waiting pod holds the node that it is nominated to is up to its own
// profile, so each must know which of them have no gates.
func TestProfilesWithoutGates(t *testing.T) {
	list := read(t, strings.Replace(two, "plugins: {", "plugins: {preEnqueue: {disabled: [{name: SchedulingGates}]}, ", 1)).Profiles
	for _, p := range list {
		if !cmp.Equal(p.Ungated, []string{"packing"}) {
			t.Errorf("%s: ungated are %v", p.Name, p.Ungated)
		}
	}
	if list[0].Digest == read(t, two).Profiles[0].Digest {
		t.Error("the digest does not tell")
	}
}

func TestExtendersOverwriteIgnoredResources(t *testing.T) {
	doc := two + `
extenders:
- urlPrefix: http://a
  ignorable: true
  managedResources: [{name: example.com/a, ignoredByScheduler: true}, {name: example.com/seen}]
- urlPrefix: http://b
  managedResources: [{name: example.com/b, ignoredByScheduler: true}]
`
	for _, p := range read(t, doc).Profiles {
		got := specOf(t, p).Args.NodeResourcesFit.IgnoredResources
		if diff := cmp.Diff([]string{"example.com/a", "example.com/b"}, got); diff != "" {
			t.Errorf("%s: %s", p.Name, diff)
		}
	}
	kept := two + "extenders: [{urlPrefix: http://a, managedResources: [{name: example.com/seen}]}]\n"
	if got := specOf(t, read(t, kept).Profiles[1]).Args.NodeResourcesFit.IgnoredResources; !cmp.Equal(got, []string{"example.com/own"}) {
		t.Errorf("an extender that leaves everything to the scheduler changed ignoredResources to %v", got)
	}
}

func TestIgnoredIsTold(t *testing.T) {
	doc := head + `
parallelism: 4
leaderElection: {leaderElect: true}
percentageOfNodesToScore: 50
extenders: [{urlPrefix: http://a, filterVerb: filter}]
profiles:
- plugins:
    multiPoint: {enabled: [{name: GangScheduling}], disabled: [{name: Coscheduling}]}
  percentageOfNodesToScore: 3
  pluginConfig:
  - name: VolumeBinding
    args: {bindTimeoutSeconds: 1}
  - name: ImageLocality
    args: {}
`
	want := []string{
		"parallelism", "leaderElection", "percentageOfNodesToScore", "extenders",
		"profiles[0].percentageOfNodesToScore", "profiles[0].plugins.multiPoint.disabled[0]", "profiles[0].plugins.preEnqueue",
		"profiles[0].pluginConfig[0].args", "profiles[0].pluginConfig[1].args",
	}
	var got []string
	for _, i := range read(t, doc).Ignored {
		path, why, ok := strings.Cut(i, ": ")
		if !ok || why == "" {
			t.Errorf("%q gives no reason", i)
		}
		got = append(got, path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if i := read(t, two).Ignored; len(i) != 0 {
		t.Errorf("nothing of it is ignored, but %v", i)
	}
}

func TestJSONReadsAsYAML(t *testing.T) {
	asJSON, err := yaml.YAMLToJSON([]byte(two))
	if err != nil {
		t.Fatal(err)
	}
	a, b := read(t, two).Profiles, read(t, string(asJSON)).Profiles
	for i := range a {
		if a[i].Digest != b[i].Digest {
			t.Errorf("%s: %s as YAML, %s as JSON", a[i].Name, a[i].Payload, b[i].Payload)
		}
	}
}

func TestRestore(t *testing.T) {
	for _, doc := range append([]string{head, two}, seeds...) {
		list, _, err := config.Parse([]byte(doc), semantics.Default())
		if err != nil {
			continue // a seed that is an error
		}
		for _, p := range list {
			again, err := rules.Restore(p.Payload)
			if err != nil {
				t.Fatal(err)
			}
			if again.Digest != p.Digest || string(again.Payload) != string(p.Payload) || !cmp.Equal(again.Siblings, p.Siblings) {
				t.Errorf("restored as\n%s\nwas\n%s", again.Payload, p.Payload)
			}
		}
	}
}

// TestProcess: what concerns kube-scheduler's process is read as it reads it, and a
// process that elects no leader may say of it what it likes.
func TestProcess(t *testing.T) {
	for _, doc := range []string{
		"leaderElection: {leaseDuration: 0s, resourceLock: leases}",
		"leaderElection: {retryPeriod: 8s}",
		"leaderElection: {leaderElect: false, retryPeriod: 9s}",
		"leaderElection: {leaderElect: false, leaseDuration: 1s, retryPeriod: -1s, resourceLock: endpoints}",
		"clientConnection: {burst: 0, qps: -1}",
		"extenders: [{urlPrefix: x, tlsConfig: {caFile: /not/here, certFile: /nor/here, keyFile: /nor/here}}, {urlPrefix: z, tlsConfig: {certData: eA==}}]",
	} {
		if _, _, err := config.Parse([]byte(head+doc), semantics.Default()); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func TestBackoff(t *testing.T) {
	for doc, want := range map[string]state.Backoff{
		head:                                   {Initial: time.Second, Max: 10 * time.Second},
		head + "podInitialBackoffSeconds: 4\n": {Initial: 4 * time.Second, Max: 10 * time.Second},
		head + "podInitialBackoffSeconds: 3\npodMaxBackoffSeconds: 9223372036854775807\n": {Initial: 3 * time.Second, Max: 9223372036 * time.Second},
	} {
		if c := read(t, doc); c.Backoff != want || len(c.Ignored) > 0 {
			t.Errorf("%s: %v, ignored %q", doc, c.Backoff, c.Ignored)
		}
	}
}
