package config_test

import (
	"strings"
	"testing"

	"berth/internal/config"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
)

func TestErrors(t *testing.T) {
	plugin := func(name, args string) string { return one("pluginConfig:\n- name: " + name + "\n  args: " + args) }
	const args = "profiles[0].pluginConfig[0].args"
	for _, c := range []struct {
		name, doc string
		want      []string // parts of the message
	}{
		{"nothing", "", []string{"not an object"}},
		{"a list", "[]", []string{"not an object"}},
		{"broken", "a: [", []string{"read KubeSchedulerConfiguration"}},
		{"no version", "kind: KubeSchedulerConfiguration", []string{"apiVersion: required"}},
		{"first version", "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nalgorithmSource:\n  provider: DefaultProvider\ndisablePreemption: true", []string{
			"disablePreemption: true is profiles[].plugins.postFilter.disabled: [{name: DefaultPreemption}]", "algorithmSource: provider and policy",
		}},
		{"old version", "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration", []string{"v1beta3 is no longer part", "write kubescheduler.config.k8s.io/v1"}},
		{"other version", "apiVersion: v1\nkind: KubeSchedulerConfiguration", []string{`apiVersion: "v1" is not read here`}},
		{"other kind", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: Policy", []string{`kind: "Policy" is not read here`}},
		{"a Policy", `{"kind":"Policy","apiVersion":"v1","predicates":[{"name":"PodFitsPorts"}]}`, []string{"kind: a Policy is no longer read by Kubernetes from 1.23 on", "profiles[]"}},
		{"a ConfigMap of two", "kind: ConfigMap\napiVersion: v1\ndata:\n  a: 'kind: KubeSchedulerConfiguration'\n  b: 'kind: KubeSchedulerConfiguration'", []string{"data: a ConfigMap is read where one of its keys holds", "2 do"}},
		{"a ConfigMap of none", "kind: ConfigMap\napiVersion: v1\ndata: {policy.cfg: x}", []string{"data: a ConfigMap is read", "0 do"}},
		{"a ConfigMap in a ConfigMap", "kind: ConfigMap\napiVersion: v1\ndata:\n  a: 'kind: ConfigMap # KubeSchedulerConfiguration'", []string{"data[a]: is another ConfigMap"}},
		{"wrong in a ConfigMap", "kind: ConfigMap\napiVersion: v1\ndata:\n  a: |\n    " + strings.ReplaceAll(head, "\n", "\n    ") + "paralelism: 3\n", []string{`unknown field "paralelism": did you mean parallelism?`}},
		{"all at once", head + "extenders:\n- urlPrefix: x\n  enableHttps: true\n  httpTimeout: 30000000000\nparallelism: many\n", []string{
			"extenders[0].httpTimeout", "parallelism", `unknown field "extenders[0].enableHttps": did you mean enableHTTPS?`,
		}},
		{"version not text", "apiVersion: 1\nkind: x", []string{"apiVersion: must be"}},
		{"unknown field", head + "paralelism: 3", []string{`unknown field "paralelism"`}},
		{"wrong case", head + "Parallelism: 3", []string{`unknown field "Parallelism"`}},
		{"unknown field below", one("plugins: {score: {enable: []}}"), []string{`unknown field "profiles[0].plugins.score.enable"`}},
		{"all unknown fields", one("a: 1\nb: 2"), []string{"profiles[0].a", "profiles[0].b"}},
		{"repeated in YAML", head + "parallelism: 3\nparallelism: 4", []string{"parallelism", "already set"}},
		{
			"repeated in JSON", `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"a","schedulerName":"b"}]}`,
			[]string{`duplicate field "profiles[0].schedulerName"`},
		},
		{"wrong type", head + "parallelism: many", []string{"parallelism", "must be a 32-bit integer"}},
		{"unknown plugin", one("plugins: {filter: {enabled: [{name: NodeName}, {name: Mine}]}}"), []string{`profiles[0].plugins.filter.enabled[1].name`, `"Mine"`, "not a plugin of Kubernetes v1.36"}},
		{"plugin of old", one("plugins: {multiPoint: {enabled: [{name: EBSLimits}]}}"), []string{"profiles[0].plugins.multiPoint.enabled[0].name", "NodeVolumeLimits does its work"}},
		{"plugin at the wrong point", one("plugins: {score: {enabled: [{name: NodeName}]}}"), []string{"profiles[0].plugins.score.enabled[0].name", "plays no part in score"}},
		{"twice at a point", one("plugins: {score: {enabled: [{name: ImageLocality}, {name: ImageLocality}]}}"), []string{"profiles[0].plugins.score.enabled[1].name", "Duplicate"}},
		{"twice at multiPoint", one("plugins: {multiPoint: {enabled: [{name: ImageLocality}, {name: ImageLocality, weight: 2}]}}"), []string{"profiles[0].plugins.multiPoint.enabled[0].name", "would be in score twice"}},
		{"a negative weight first", one("plugins: {score: {enabled: [{name: ImageLocality, weight: -1}]}}"), []string{"profiles[0].plugins.score", "negative"}},
		{"no binder", one("plugins: {bind: {disabled: [{name: '*'}]}}"), []string{"profiles[0].plugins.bind", "must bind"}},
		{"no queue sort", one("plugins: {multiPoint: {disabled: [{name: PrioritySort}]}}"), []string{"profiles[0].plugins.queueSort", "exactly one"}},
		{"filter alone", one("plugins: {preFilter: {disabled: [{name: InterPodAffinity}]}}"), []string{"profiles[0].plugins.filter", "relies on its preFilter"}},
		{"score alone", one("plugins: {preScore: {disabled: [{name: '*'}]}}"), []string{"profiles[0].plugins.score", `"TaintToleration"`, "relies on its preScore"}},
		{"config of an unknown plugin", plugin("NodeResourceFit", "{}"), []string{"profiles[0].pluginConfig[0].name", `"NodeResourceFit"`}},
		{"config twice", one("pluginConfig:\n- name: NodeAffinity\n- name: NodeAffinity"), []string{"profiles[0].pluginConfig[1].name", "Duplicate"}},
		{"unnamed", head + "profiles: [{schedulerName: a}, {}]", []string{"profiles[1].schedulerName: Required"}},
		{"empty name", one("schedulerName: ''"), []string{"profiles[0].schedulerName: Required"}},
		{"same name", head + "profiles: [{schedulerName: a}, {schedulerName: a}]", []string{"profiles[1].schedulerName", "is the name of profiles[0] already"}},
		{"queue sorts differ", head + "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {enabled: [{name: PrioritySort}]}}}]", []string{"profiles[1].plugins.queueSort", "same for all profiles"}},
		{
			"arguments of queue sorts differ", head + "profiles: [{schedulerName: a, pluginConfig: [{name: PrioritySort, args: {a: 1}}]}, {schedulerName: b, pluginConfig: [{name: PrioritySort, args: {a: 2}}]}]",
			[]string{"profiles[1].pluginConfig[0].args", "same for all profiles"},
		},
		{"parallelism", head + "parallelism: 0", []string{"parallelism", "greater than 0"}},
		{"percentage", one("percentageOfNodesToScore: 101"), []string{"profiles[0].percentageOfNodesToScore", "[0, 100]"}},
		{"backoff", head + "podInitialBackoffSeconds: 20", []string{"podMaxBackoffSeconds", "less than"}},
		{"extender weight", head + "extenders: [{urlPrefix: x, prioritizeVerb: p}]", []string{"extenders[0].weight"}},
		{"two binders", head + "extenders: [{urlPrefix: x, bindVerb: b}, {urlPrefix: z, bindVerb: b}]", []string{"extenders", "only one"}},
		{"native resource managed", head + "extenders: [{urlPrefix: x, managedResources: [{name: cpu}]}]", []string{"extenders[0].managedResources[0].name", "extended resource"}},
		{"ignored without fit", one("plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}") + "extenders: [{urlPrefix: x, managedResources: [{name: a.b/c, ignoredByScheduler: true}]}]", []string{"profiles[0]", "NodeResourcesFit"}},
		{"args of another kind", plugin("NodeAffinity", "{kind: InterPodAffinityArgs}"), []string{args + ".kind"}},
		{"args of an old version", plugin("NodeAffinity", "{apiVersion: kubescheduler.config.k8s.io/v1beta2}"), []string{args + ".apiVersion", "v1beta2 is no longer"}},
		{"args not an object", plugin("NodeAffinity", "7"), []string{args + ": must be an object"}},
		{"unknown args", plugin("NodeResourcesFit", "{scoringStrategy: {typ: LeastAllocated}}"), []string{`unknown field "` + args + `.scoringStrategy.typ"`}},
		{"args of the wrong type", plugin("InterPodAffinity", "{hardPodAffinityWeight: x}"), []string{args + ".hardPodAffinityWeight", "32-bit integer"}},
		{"no strategy type", plugin("NodeResourcesFit", "{scoringStrategy: {}}"), []string{args + ".scoringStrategy.type", "Unsupported"}},
		{"ratio without shape", plugin("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {}}}"), []string{args + ".scoringStrategy.requestedToCapacityRatio.shape: Required"}},
		{"ratio missing", plugin("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}"), []string{args + ".scoringStrategy.requestedToCapacityRatio: Required"}},
		{"ratio unwanted", plugin("NodeResourcesFit", "{scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {}}}"), []string{args + ".scoringStrategy.requestedToCapacityRatio: Forbidden"}},
		{
			"shape backwards", plugin("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 9, score: 11}, {utilization: 9, score: 0}]}}}"),
			[]string{"shape[1].utilization", "shape[0].score", "[0, 10]"},
		},
		{"resource weight", plugin("NodeResourcesFit", "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}}"), []string{args + ".scoringStrategy.resources[0].weight", "(0, 100]"}},
		{"ignored group", plugin("NodeResourcesFit", "{ignoredResourceGroups: [a/b]}"), []string{args + ".ignoredResourceGroups[0]", "no '/'"}},
		{"ignored resource", plugin("NodeResourcesFit", "{ignoredResources: ['a b']}"), []string{args + ".ignoredResources[0]"}},
		{"balanced weight", plugin("NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}, {name: cpu}]}"), []string{args + ".resources[0].weight", "must be 1", args + ".resources[1].name: Duplicate"}},
		{"system with a list", plugin("PodTopologySpread", "{defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}"), []string{args + ".defaultingType", "must be List"}},
		{"defaulting type", plugin("PodTopologySpread", "{defaultingType: Some}"), []string{args + ".defaultingType: Unsupported"}},
		{
			"bad constraints", plugin("PodTopologySpread", "{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: '', whenUnsatisfiable: Maybe, labelSelector: {}}]}"),
			[]string{"defaultConstraints[0].maxSkew", "defaultConstraints[0].topologyKey", "defaultConstraints[0].whenUnsatisfiable", "defaultConstraints[0].labelSelector"},
		},
		{
			"same constraint", plugin("PodTopologySpread", "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}"),
			[]string{args + ".defaultConstraints[1]: Duplicate"},
		},
		{"hard weight", plugin("InterPodAffinity", "{hardPodAffinityWeight: 101}"), []string{args + ".hardPodAffinityWeight", "[0, 100]"}},
		{"no candidates", plugin("DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}"), []string{args + ".minCandidateNodesPercentage", "together"}},
		{
			"affinity operator", plugin("NodeAffinity", "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Like}]}]}}}"),
			[]string{args + ".addedAffinity.requiredDuringSchedulingIgnoredDuringExecution", "Like"},
		},
		{"bind timeout", plugin("VolumeBinding", "{bindTimeoutSeconds: -1}"), []string{args + ".bindTimeoutSeconds"}},
		{"a shape for volumes", plugin("VolumeBinding", "{shape: [{utilization: 0, score: 0}]}"), []string{args + ".shape: Forbidden", "StorageCapacityScoring"}},
		{"managed resource unnamed", head + "extenders: [{urlPrefix: x, managedResources: [{name: /x}]}]", []string{"extenders[0].managedResources[0].name", "extended resource"}},
		{"authority and insecure", head + "extenders: [{urlPrefix: x, tlsConfig: {insecure: true, caFile: /a}}]", []string{"extenders[0].tlsConfig.insecure: Forbidden"}},
		{"no authority", head + "extenders: [{urlPrefix: x, tlsConfig: {caData: eA==}}]", []string{"extenders[0].tlsConfig.caData", "PEM"}},
		{"no key pair", head + "extenders: [{urlPrefix: x, tlsConfig: {certData: eA==, keyData: eA==}}]", []string{"extenders[0].tlsConfig.certData"}},
		{"no key pair, and files that are not read", head + "extenders: [{urlPrefix: x, tlsConfig: {certData: eA==, certFile: /a, keyData: eA==, keyFile: /b}}]", []string{"extenders[0].tlsConfig.certData"}},
		{"burst", head + "clientConnection: {burst: -1}", []string{"clientConnection.burst"}},
		{"lease too short", head + "leaderElection: {leaseDuration: 10s}", []string{"leaderElection.leaseDuration", "greater than renewDeadline, 10s"}},
		{"lease below zero", head + "leaderElection: {leaseDuration: -1s, renewDeadline: -2s, retryPeriod: -1s}", []string{"leaderElection.leaseDuration", "leaderElection.renewDeadline", "leaderElection.retryPeriod"}},
		{"renewed too late", head + "leaderElection: {renewDeadline: 10s, retryPeriod: 9s}", []string{"leaderElection.renewDeadline", "10s", "factor of 1.2, 10.8s"}},
		{"renewed just too late", head + "leaderElection: {renewDeadline: 12s, retryPeriod: 10s}", []string{"leaderElection.renewDeadline"}},
		{"tried again too rarely", head + "leaderElection: {retryPeriod: 9s}", []string{"leaderElection.renewDeadline"}},
		{"another lock", head + "leaderElection: {leaderElect: true, resourceLock: endpoints}", []string{"leaderElection.resourceLock: Unsupported"}},
		{"binding timeout", plugin("DynamicResources", "{bindingTimeout: 1ms}"), []string{args + ".bindingTimeout"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := config.Parse([]byte(c.doc), semantics.Default())
			if err == nil {
				t.Fatalf("accepted\n%s", c.doc)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// TestOfReleases: each release refuses what it does not have, and takes what only others refuse.
func TestOfReleases(t *testing.T) {
	named := func(point, plugin string) string {
		return one("plugins: {" + point + ": {enabled: [{name: " + plugin + "}]}}")
	}
	ratio := one("pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}}}}]")
	wrong := strings.Replace(ratio, "score: 1", "score: 11", 1)
	devices := one("pluginConfig: [{name: DynamicResources, args: {bindingTimeout: 5s}}]")
	untimed := strings.Replace(devices, "5s", "null", 1)
	for _, c := range []struct{ under, doc, want string }{ // want is empty where it is taken
		{"v1.34", named("multiPoint", "GangScheduling"), "is not a plugin of Kubernetes v1.34"},
		{"v1.34", named("filter", "NodeDeclaredFeatures"), "is not a plugin of Kubernetes v1.34"},
		{"v1.34", named("score", "DynamicResources"), "plays no part in score"},
		{"v1.35", named("score", "DynamicResources"), ""},
		{"v1.34", devices, `unknown field "profiles[0].pluginConfig[0].args.bindingTimeout"`},
		{"v1.34", untimed, `unknown field "profiles[0].pluginConfig[0].args.bindingTimeout"`},
		{"v1.35", untimed, ""},
		{"v1.35", one("plugins: {placementScore: {}}"), `unknown field "profiles[0].plugins.placementScore"`},
		{"v1.36", one("plugins: {placementScore: {}}"), ""},
		{"v1.35", named("placementGenerate", "TopologyPlacementGenerator"), `unknown field "profiles[0].plugins.placementGenerate"`},
		{"v1.35", named("multiPoint", "PodGroupPodsCount"), "is not a plugin of Kubernetes v1.35"},
		{"v1.36", named("multiPoint", "PodGroupPodsCount"), ""},
		{"v1.35", named("reserve", "GangScheduling"), ""},
		{"v1.36", named("reserve", "GangScheduling"), "plays no part in reserve"},
		{"v1.36", named("permit", "DeferredPodScheduling"), "is not a plugin of Kubernetes v1.36"},
		{"v1.37", named("permit", "DeferredPodScheduling"), ""},
		{"v1.36", named("preFilter", "NodeName"), "plays no part in preFilter"},
		{"v1.37", named("preFilter", "NodeName"), ""},
		{"v1.37", named("preFilter", "TaintToleration"), ""},
		{"v1.36", named("podGroupPostFilter", "DynamicResources"), `unknown field "profiles[0].plugins.podGroupPostFilter"`},
		{"v1.37", named("podGroupPostFilter", "DynamicResources"), ""},
		{"v1.37", named("podGroupPostFilter", "DefaultPreemption"), ""},
		{"v1.37", named("podGroupPostFilter", "NodeAffinity"), "plays no part in podGroupPostFilter"},
		{"v1.35", ratio, ""},
		{"v1.35", wrong, "requestedToCapacityRatio.shape[0].score"},
		{"v1.36", ratio, "requestedToCapacityRatio: Forbidden"},
		{"v1.35", devices, "bindingTimeout: Forbidden"},
		{"v1.36", devices, ""},
		{"v1.36 NodeDeclaredFeatures=false", one("plugins: {preFilter: {disabled: [{name: NodeDeclaredFeatures}]}}"), ""},
		{"v1.36", one("plugins: {preFilter: {disabled: [{name: NodeDeclaredFeatures}]}}"), "relies on its preFilter"},
		{"v1.36 NodeDeclaredFeatures=false", named("filter", "NodeDeclaredFeatures"), ""},
	} {
		under, err := semantics.Parse(c.under)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = config.Parse([]byte(c.doc), under)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s reads\n%s\n%v, want %q", c.under, c.doc, err, c.want)
		}
	}
}

// TestDefaultsOfReleases: the profile of a file without any is the release's default.
func TestDefaultsOfReleases(t *testing.T) {
	for _, name := range []string{"v1.34", "v1.35", "v1.36", "v1.37", "v1.36 NodeDeclaredFeatures=false", "v1.35 NodeDeclaredFeatures=true"} {
		under, err := semantics.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		list, ignored, err := config.Parse([]byte(head), under)
		if err != nil || len(ignored) > 0 || string(list[0].Payload) != string(config.Default(under)[0].Payload) {
			t.Errorf("%s: %v, %q\n%s\nwant\n%s", name, err, ignored, list[0].Payload, config.Default(under)[0].Payload)
		}
	}
}

// seeds are documents that the fuzzer starts from.
var seeds = []string{
	"", "{}", "null", "[", "\x00", "a: &a [*a]", "? {a: b}\n: c", head, two,
	one("plugins: {multiPoint: {disabled: [{name: '*'}]}}"),
	one("plugins: {score: {enabled: [{name: NodeName, weight: -3}]}}"),
	one("pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchFields: [{key: metadata.name, operator: In, values: [n]}]}}]}}}]"),
	one("pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]}}]"),
	one("pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 10}]}}}}]"),
	`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","extenders":[{"urlPrefix":"","httpTimeout":"1s"}]}`,
}

// FuzzParse: no document makes Parse panic, and what it accepts builds again
// from its record.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		list, _, err := config.Parse(doc, semantics.Default())
		if err != nil {
			return
		}
		if len(list) == 0 {
			t.Fatal("neither profiles nor an error")
		}
		for _, p := range list {
			again, err := restore(p.Payload)
			if err != nil || again != p.Digest {
				t.Fatalf("%s restores as %s, %v", p.Digest, again, err)
			}
		}
	})
}

func restore(payload []byte) (digest string, err error) {
	p, err := rules.Restore(payload)
	if err != nil {
		return "", err
	}
	return p.Digest, nil
}
