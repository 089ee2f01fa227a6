package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// testCase is a case of upstream's performance-config.yaml (scheduler_perf.go testCase), with the
// fields that are played.
type testCase struct {
	Name                   string
	DefaultPodTemplatePath string
	SchedulerConfigPath    string
	FeatureGates           map[string]bool
	WorkloadTemplate       []json.RawMessage
	Workloads              []*workload

	dir string // of its file, to which paths refer
}

// workload is a size of a case (scheduler_perf.go Workload).
type workload struct {
	Name         string
	Labels       []string
	FeatureGates map[string]bool
	Params       map[string]any
	Threshold    any
}

// pods returns upstream's threshold in pods a second; 0 where it has none.
func (w *workload) pods() float64 {
	switch t := w.Threshold.(type) {
	case float64:
		return t
	case map[string]any: // by the name of a parameter set, as the cases of devices have it
		for _, v := range t {
			if f, ok := v.(float64); ok {
				return f
			}
		}
	}
	return 0
}

// op is an operation of a workload, with the fields of all that are played.
type op struct {
	Opcode                   string
	Count                    int
	CountParam               string
	Namespace                string
	NodeTemplatePath         string
	LabelNodePrepareStrategy *labelStrategy
	Prefix                   string
	NamespaceTemplatePath    string
	PodTemplatePath          string
	CollectMetrics           bool
	SkipWaitToCompletion     bool
	NamespacePrefix          string
	CreatePodsOp             *op
	Mode                     string
	Number                   int
	IntervalMilliseconds     int
	TemplatePath             string
	TemplatePaths            []string
	DeletePodsPerSecond      int
	StageRequirement         string
	Namespaces               []string
	Duration                 string
	Name                     string
}

// labelStrategy spreads values of a label over nodes in turns (test/utils/runners.go
// LabelNodePrepareStrategy).
type labelStrategy struct {
	LabelKey    string
	LabelValues []string
}

// cases reads all cases of a scheduler_perf folder that have a workload for performance tests.
func cases(dir string) (list []*testCase, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "performance-config.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no */performance-config.yaml", dir)
	}
	for _, file := range files {
		text, readErr := os.ReadFile(file)
		var of []*testCase
		if err = errors.Join(err, readErr, yaml.Unmarshal(text, &of)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, c := range of {
			if c.dir = filepath.Dir(file); c.chosen() != nil {
				list = append(list, c)
			}
		}
	}
	return list, err
}

// chosen returns the workload that is played of a case: of those labelled for performance tests
// the one with a threshold and with the most pods, of several equal ones the last, which has the
// features that are on by default.
func (c *testCase) chosen() *workload {
	var fit []*workload
	for _, w := range c.Workloads {
		if slices.Contains(w.Labels, "performance") && (w.pods() > 0 || strings.HasPrefix(w.Name, "5000Nodes")) {
			fit = append(fit, w)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	most := func(w *workload) float64 {
		n, _ := w.Params["measurePods"].(float64)
		return min(w.pods(), 1)*1e9 + n
	}
	last := fit[0]
	for _, w := range fit {
		if most(w) >= most(last) {
			last = w
		}
	}
	return last
}

// unplayed is why a workload is not played.
type unplayed string

func (u unplayed) Error() string { return string(u) }

// decodeOp reads an operation, and refuses what it does not know.
func decodeOp(raw json.RawMessage) (*op, error) {
	var o op
	if err := json.Unmarshal(raw, &struct{ Opcode *string }{&o.Opcode}); err != nil {
		return nil, err
	}
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&o); err != nil {
		return nil, unplayed(fmt.Sprintf("%s: %s", o.Opcode, strings.TrimPrefix(err.Error(), "json: ")))
	}
	return &o, nil
}

// upstream returns the scheduler_perf folder of the release of Kubernetes that a nested module
// pins, in the module cache.
func upstream(module string) (dir, version string, err error) {
	cmd := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes")
	cmd.Dir = module
	out, err := cmd.Output()
	var at struct{ Dir, Version, Error string }
	if err = errors.Join(err, json.Unmarshal(out, &at)); err != nil {
		return "", "", fmt.Errorf("go mod download k8s.io/kubernetes in %s: %w %s", module, err, at.Error)
	}
	return filepath.Join(at.Dir, "test", "integration", "scheduler_perf"), at.Version, nil
}
