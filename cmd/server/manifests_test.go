package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// pods returns the pod specs of a file of manifests.
func pods(t *testing.T, file string) (all []*corev1.PodSpec) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for docs := utilyaml.NewDocumentDecoder(f); ; {
		raw := make([]byte, 1<<20)
		n, err := docs.Read(raw)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		var pod struct{ Spec corev1.PodSpec }
		var maker struct {
			Kind string
			Spec struct {
				Template    struct{ Spec corev1.PodSpec }
				JobTemplate struct {
					Spec struct{ Template struct{ Spec corev1.PodSpec } }
				}
			}
		}
		if err := yaml.Unmarshal(raw[:n], &maker); err != nil {
			t.Fatal(err)
		}
		switch maker.Kind {
		case "Deployment", "StatefulSet", "Job":
			all = append(all, &maker.Spec.Template.Spec)
		case "CronJob":
			all = append(all, &maker.Spec.JobTemplate.Spec.Template.Spec)
		case "Pod":
			if err := yaml.Unmarshal(raw[:n], &pod); err != nil {
				t.Fatal(err)
			}
			all = append(all, &pod.Spec)
		}
	}
}

// TestManifestsStart holds what the manifests start the server with to the
// server's own command line.
func TestManifestsStart(t *testing.T) {
	files, err := filepath.Glob("../../deploy/rendered/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	started := 0
	for _, file := range files {
		for _, pod := range pods(t, file) {
			for _, c := range pod.Containers {
				if !strings.HasPrefix(c.Image, "berth") {
					continue
				}
				started++
				t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { startable(t, pod, &c) })
			}
		}
	}
	if started < 5 {
		t.Errorf("%d containers", started)
	}
}

func startable(t *testing.T, pod *corev1.PodSpec, c *corev1.Container) {
	t.Setenv("DATABASE_URL", "")
	t.Setenv("BERTH_INSECURE", "true") // the image sets it
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil {
			value = "postgres://berth@postgres:5432/berth"
		}
		t.Setenv(e.Name, value)
	}
	var line cli
	parser, err := kong.New(&line, kong.DefaultEnvars("BERTH"), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	k, err := parser.Parse(c.Args)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "berth" { // a job: it has a command of its own
		if command := k.Command(); command == "serve" || pod.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s is a job of %s, restarted %s", c.Name, command, pod.RestartPolicy)
		}
		return
	}
	s := &line.Serve.settings
	if err := errors.Join(s.validate(), s.Limits.CheckMemory(c.Resources.Limits.Memory().Value()*9/10)); err != nil {
		t.Error(err)
	}
	if k.Command() != "serve" || len(s.Kube.sources()) != 1 || s.Kube.sources()["default"] == "" || s.Extender.Listen == "" {
		t.Errorf("%s follows %v", k.Command(), s.Kube.sources())
	}
	// Without TLS the NetworkPolicy is all that keeps callers out, and the manifest has to name
	// that.
	local, err := onLoopback("--listen", s.Listen)
	if err != nil || s.Insecure == (local || s.TLS.on()) || s.Insecure && !slices.Contains(c.Args, "--insecure") {
		t.Errorf("%s is served with TLS %v, insecure %v: %v", s.Listen, s.TLS.on(), s.Insecure, err)
	}
	hasURL := slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "DATABASE_URL" })
	if hasURL != (s.DatabaseURL != "") {
		t.Errorf("the database is %q", s.DatabaseURL)
	}
	// The rest is for what is recorded last.
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace < s.DrainDelay+s.ShutdownTimeout+5*time.Second {
		t.Errorf("killed after %s, while ending takes up to %s and %s", grace, s.DrainDelay, s.ShutdownTimeout)
	}
	for _, v := range pod.Volumes {
		if v.Name == "data" && v.EmptyDir != nil && v.EmptyDir.SizeLimit.Value() < int64(s.SpoolLimit)*3/2 {
			t.Errorf("evicted at %s, while the spool may hold %s", v.EmptyDir.SizeLimit, s.SpoolLimit)
		}
	}
	if p := c.ReadinessProbe; p != nil && s.DrainDelay < time.Duration(p.PeriodSeconds*p.FailureThreshold)*time.Second {
		t.Error("listeners close before the readiness probe has noticed")
	}
}
