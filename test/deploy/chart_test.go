package deploy

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	helm "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

// charts are the values that the chart is rendered with into deploy/rendered, where the product's
// tests read it as strictly as an API server, and the kustomization that has to say the same.
var charts = map[string]struct{ values, like string }{
	"chart":           {"", "base"},
	"chart-bind":      {"{bind: true}", "binding"},
	"chart-volume":    {"{store: volume, replicas: 1}", "single"},
	"chart-monitored": {"monitoring: {serviceMonitor: true, alerts: true, dashboard: true}", "monitored"},
	"chart-plain":     {`{rest: {tlsSecretName: ""}}`, ""},
	"chart-one-role":  {`{database: {ownerSecretName: ""}, audit: {anchorSchedule: "", verifySchedule: ""}}`, ""},
	"chart-every": {`{replicas: 3, rest: {tlsSecretName: rest}, access: {bindings: [{subjects: [{kind: Group, name: sre}], role: admin, clusters: ["*"], namespaces: ["*"]}]}, migrate: {onUpgrade: true}, imagePullSecrets: [{name: registry}], nodeSelector: {pool: system}, tolerations: [{key: dedicated, operator: Exists}],
  extraArgs: [--log-level=debug], extraEnv: [{name: TZ, value: UTC}], extraVolumes: [{name: more, emptyDir: {}}], extraVolumeMounts: [{name: more, mountPath: /more}],
  networkPolicy: {extenderFrom: [10.0.0.0/24], apiserver: [10.0.0.10/32], database: [10.0.8.0/24]}}`, ""},
}

// load reads the chart once. Helm logs each link in it, and files/ has three: the manifests of
// Kustomize that the chart uses as they are.
var load = sync.OnceValues(func() (*helm.Chart, error) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	return loader.LoadDir(filepath.Join(root, "chart"))
})

// chart renders the chart as `helm install berth -n berth` would.
func chart(t *testing.T, values string) (string, error) {
	t.Helper()
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	v, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	o := chartutil.ReleaseOptions{Name: "berth", Namespace: "berth", IsInstall: true}
	all, err := chartutil.ToRenderValues(c, v, o, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if text := strings.TrimSpace(files[name]); text != "" && strings.HasSuffix(name, ".yaml") {
			fmt.Fprintf(&b, "---\n%s\n", text)
		}
	}
	return b.String(), nil
}

// TestChart holds deploy/rendered to what Helm renders, and the chart to the kustomizations.
func TestChart(t *testing.T) {
	for name, c := range charts {
		t.Run(name, func(t *testing.T) {
			text, err := chart(t, c.values)
			if err != nil {
				t.Fatal(err)
			}
			got := []byte("# Rendered of deploy/chart by `make manifests`; not to be edited.\n" + text)
			sameAsRendered(t, name, got, "Helm renders")
			if c.like == "" {
				return
			}
			like, err := os.ReadFile(filepath.Join(rendered, c.like+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			theirs, ours := objects(t, like), objects(t, got)
			// The namespace is the release's, and Grafana's ConfigMap is made by hand elsewhere.
			delete(theirs, "Namespace berth")
			delete(ours, "ConfigMap berth-dashboard")
			for _, id := range slices.Sorted(maps.Keys(theirs)) {
				if diff := cmp.Diff(theirs[id], ours[id]); diff != "" {
					t.Errorf("%s (-deploy/rendered/%s.yaml +chart):\n%s", id, c.like, diff)
				}
				delete(ours, id)
			}
			for id := range ours {
				t.Errorf("%s is in the chart alone", id)
			}
		})
	}
}

// objects reads manifests, without hooks and without the labels that Helm and Kustomize add each
// for itself.
func objects(t *testing.T, raw []byte) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, doc := range bytes.Split(raw, []byte("\n---\n")) {
		var o map[string]any
		if err := yaml.Unmarshal(doc, &o); err != nil {
			t.Fatal(err)
		}
		if len(o) == 0 {
			continue
		}
		meta := o["metadata"].(map[string]any)
		annotations, _ := meta["annotations"].(map[string]any)
		if annotations["helm.sh/hook"] != nil {
			continue
		}
		delete(annotations, "helm.sh/resource-policy")
		if len(annotations) == 0 {
			delete(meta, "annotations")
		}
		if labels, ok := meta["labels"].(map[string]any); ok {
			for _, name := range []string{"helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "app.kubernetes.io/version"} {
				delete(labels, name)
			}
		}
		all[fmt.Sprint(o["kind"], " ", meta["name"])] = o
	}
	return all
}

// TestValues: what cannot work is refused before anything is installed, by the name of the value.
func TestValues(t *testing.T) {
	for values, want := range map[string]string{
		"{replica: 3}":                            "replica",
		"{replicas: two}":                         "replicas",
		"{store: etcd}":                           "store",
		"{store: volume}":                         "set replicas to 1",
		"{image: {digest: latest}}":               "digest",
		"{keep: {decisions: 90d}}":                "decisions",
		"{audit: {anchorSchedule: hourly}}":       "anchorSchedule",
		"{database: {writerRole: a b}}":           "writerRole",
		"{cluster: My_Cluster}":                   "cluster",
		"{networkPolicy: {apiserver: [berth]}}":   "apiserver",
		"{access: {bindings: [{role: root}]}}":    "role",
		"{extender: {clientNames: []}}":           "clientNames",
		"{resources: {requests: {}, limits: {}}}": "", // merged with the defaults
	} {
		_, err := chart(t, values)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something about %q", values, err, want)
		}
	}
	text, err := chart(t, "{bind: false, podDisruptionBudget: {enabled: false}, networkPolicy: {enabled: false}, migrate: {onInstall: false, onUpgrade: false}, image: {digest: \"sha256:"+strings.Repeat("a", 64)+"\"}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"pods/binding", "PodDisruptionBudget", "NetworkPolicy", "kind: Job", "berth:v"} {
		if strings.Contains(text, absent) {
			t.Errorf("%s is there though it is switched off", absent)
		}
	}
	if !strings.Contains(text, "image: berth@sha256:aaaa") {
		t.Error("the digest is not used")
	}
}

// TestChartVersion: the chart has the number that the programs print, in both of its versions.
func TestChartVersion(t *testing.T) {
	raw, err := os.ReadFile("../../internal/version/version.go")
	if err != nil {
		t.Fatal(err)
	}
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("const Number = %q", c.Metadata.AppVersion); !strings.Contains(string(raw), want) || "v"+c.Metadata.Version != c.Metadata.AppVersion {
		t.Errorf("Chart.yaml has %s and %s, internal/version another", c.Metadata.Version, c.Metadata.AppVersion)
	}
}
