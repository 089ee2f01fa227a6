package deploy

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulerv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/config"
	"berth/internal/handlers/limits"
	"berth/internal/kube/follow"
	"berth/internal/semantics"
)

// TestSchedulerConfigurations holds the examples to kube-scheduler's type, to
// berth's own reading, and to the manifests whose addresses they name.
func TestSchedulerConfigurations(t *testing.T) {
	files, err := filepath.Glob("scheduler/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	openapi, err := os.ReadFile("../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sidecar := templates(read(t, "rendered/sidecar.yaml"))["kube-scheduler"]
	served := of[*appsv1.Deployment](read(t, "rendered/base.yaml"))[0]
	names := of[*certificate](read(t, "rendered/cert-manager.yaml"))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c schedulerv1.KubeSchedulerConfiguration
			if err := strict(raw, &c); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Read(raw, semantics.Default()); err != nil {
				t.Error(err)
			}
			if c.PercentageOfNodesToScore == nil || *c.PercentageOfNodesToScore != 100 || len(c.Extenders) != 1 {
				t.Fatalf("%v percent of the nodes, %d extenders", c.PercentageOfNodesToScore, len(c.Extenders))
			}
			e := c.Extenders[0]
			u, err := url.Parse(e.URLPrefix)
			if err != nil {
				t.Fatal(err)
			}
			for _, verb := range []string{e.FilterVerb, e.PrioritizeVerb, e.PreemptVerb, e.BindVerb} {
				path := strings.Replace(u.Path, "/clusters/default", "/clusters/{cluster}", 1) + "/" + verb
				if verb != "" && !strings.Contains(string(openapi), "\n  "+path+":\n") {
					t.Errorf("there is no route %s", path)
				}
			}
			if !e.NodeCacheCapable || !e.EnableHTTPS || u.Scheme != "https" || e.TLSConfig.Insecure || e.Weight <= 0 {
				t.Errorf("%+v", e)
			}
			if e.BindVerb != "" && e.Ignorable {
				t.Error("a binder's failure would be passed over")
			}
			limits := limits.Default()
			if e.HTTPTimeout.Duration <= limits.ExtenderDeadline || e.HTTPTimeout.Duration <= follow.DefaultBindTimeout+time.Second {
				t.Errorf("kube-scheduler gives up after %s, before berth does", e.HTTPTimeout.Duration)
			}
			if want := flagOf(&served.Spec.Template.Spec.Containers[0], "extender-listen"); u.Hostname() == "127.0.0.1" {
				if own := flagOf(&sidecar.Spec.Containers[0], "extender-listen"); u.Host != own {
					t.Errorf("the sidecar listens on %s, not %s", own, u.Host)
				}
			} else if u.Port() != strconv.Itoa(int(portOf(t, want))) {
				t.Errorf("berth listens on %s, not %s", want, u.Host)
			}
			if !slices.ContainsFunc(names, func(c *certificate) bool { return slices.Contains(c.Spec.DNSNames, e.TLSConfig.ServerName) }) {
				t.Errorf("no certificate is for %q", e.TLSConfig.ServerName)
			}
			for _, path := range []string{c.ClientConnection.Kubeconfig, e.TLSConfig.CertFile, e.TLSConfig.KeyFile, e.TLSConfig.CAFile} {
				if !slices.ContainsFunc(sidecar.Spec.Containers[1].VolumeMounts, func(m corev1.VolumeMount) bool {
					return path == m.MountPath || strings.HasPrefix(path, m.MountPath+"/")
				}) {
					t.Errorf("nothing is mounted for %s", path)
				}
			}
		})
	}
}
