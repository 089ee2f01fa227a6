package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const config = `
- name: Churned
  defaultPodTemplatePath: ../templates/pod.yaml
  workloadTemplate:
  - {opcode: createNodes, countParam: $nodes, nodeTemplatePath: ../templates/node.yaml, labelNodePrepareStrategy: {labelKey: zone, labelValues: [a, b]}}
  - {opcode: createNamespaces, prefix: sets, count: 2}
  - {opcode: createPodSets, count: 2, namespacePrefix: sets, createPodsOp: {opcode: createPods, count: 3}}
  - {opcode: createPods, count: 9}
  - {opcode: barrier}
  - {opcode: churn, mode: recreate, number: 2, intervalMilliseconds: 1000, templatePaths: [../templates/node.yaml]}
  - {opcode: deletePods, namespace: namespace-3, deletePodsPerSecond: 2, skipWaitToCompletion: true}
  - {opcode: createPods, countParam: $measurePods, collectMetrics: true}
  workloads:
  - {name: small, params: {nodes: 1, measurePods: 1}}
  - {name: fewer, labels: [performance], threshold: 5, params: {nodes: 3, measurePods: 10}}
  - {name: first, labels: [performance], threshold: 5, params: {nodes: 3, measurePods: 20}}
  - {name: last, labels: [performance], threshold: 5, featureGates: {SchedulerQueueingHints: true}, params: {nodes: 3, measurePods: 20}}
- name: Unknown
  workloadTemplate:
  - {opcode: dance}
  workloads:
  - {name: 5000Nodes, labels: [performance]}
- name: Field
  workloadTemplate:
  - {opcode: createNodes, count: 1, nodeAllocatableStrategy: {}}
  workloads:
  - {name: any, labels: [performance], threshold: {dra: 7}}
- name: Gate
  featureGates: {Unheard: true}
  workloads:
  - {name: any, labels: [performance], threshold: 7}
- name: Templated
  workloadTemplate:
  - {opcode: createPods, count: 1, podTemplatePath: ../templates/text.yaml}
  workloads:
  - {name: any, labels: [performance], threshold: 7}
- name: Small
  workloads:
  - {name: any, labels: [integration-test], threshold: 7}
`

func read(t *testing.T) []*testCase {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"misc/performance-config.yaml": config,
		"templates/pod.yaml":           "kind: Pod\napiVersion: v1\nmetadata: {generateName: x-}\nspec: {containers: [{name: c, image: i}]}",
		"templates/node.yaml":          "kind: Node\napiVersion: v1\nmetadata: {generateName: n-}\nstatus: {capacity: {cpu: 4}}",
		"templates/text.yaml":          "kind: Pod\nmetadata: {name: 'p-{{.Index}}'}",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := cases(dir)
	if err != nil || len(list) != 5 {
		t.Fatalf("%d cases, %v", len(list), err)
	}
	return list
}

func TestCompile(t *testing.T) {
	c := read(t)[0]
	if got := c.chosen().Name; got != "last" {
		t.Fatalf("%s is chosen", got)
	}
	s, err := c.compile(c.chosen())
	if err != nil {
		t.Fatal(err)
	}
	// Two namespaces of the sets, and one of each createPods and of the churn.
	if s.nodes != 3 || len(s.objects) != 3+2+1+1+1 || len(s.before) != 3 || s.before[1].namespace != "sets-1" || s.before[2].namespace != "namespace-3" {
		t.Errorf("%+v", s)
	}
	var node struct {
		Metadata struct{ Labels map[string]string }
	}
	if err := json.Unmarshal([]byte(s.objects[1]), &node); err != nil || node.Metadata.Labels["zone"] != "b" || node.Metadata.Labels["kubernetes.io/hostname"] != "n-1" {
		t.Errorf("%s, %v", s.objects[1], err)
	}
	if m := &s.measure; m.count != 20 || !strings.Contains(m.pod(7), `"name":"p7-7","namespace":"namespace-7"`) {
		t.Errorf("%s", s.measure.pod(7))
	}
	// Twenty pods at five a second take four seconds: two cycles create, two delete, and eight pods
	// go meanwhile.
	var made, gone, pods []string
	for _, e := range s.beside {
		switch {
		case e.create != "":
			made = append(made, e.at.String())
		case e.remove.Kind == "Pod":
			pods = append(pods, e.remove.Name)
		default:
			gone = append(gone, e.at.String()+" "+e.remove.Kind+" "+e.remove.Name)
		}
	}
	if strings.Join(made, ",") != "0s,1s" || strings.Join(gone, ",") != "2s Node churn-0-0,3s Node churn-0-1" || strings.Join(pods, ",") != "p3-0,p3-1,p3-2,p3-3,p3-4,p3-5,p3-6,p3-7" {
		t.Errorf("%v, %v, %v", made, gone, pods)
	}
	st := &stage{scene: s}
	if timed := st.happenings(); len(timed) != 8+4 || timed[0]["at"] != "0s" {
		t.Errorf("%d events, %v", len(timed), timed[0])
	}
	s.beside = []event{{create: s.measure.text}, {at: 2 * time.Second, create: s.measure.text}}
	if timed := st.timed(); len(timed) != 22 || timed[11].(map[string]any)["at"] != "2s" || timed[10].(map[string]any)["at"] != "0s" {
		t.Errorf("%v", timed)
	}
}

func TestUnplayed(t *testing.T) {
	for i, want := range []string{"the opcode dance", `createNodes: unknown field "nodeAllocatableStrategy"`, "the feature gate Unheard", "the template of text in ../templates/text.yaml"} {
		c := read(t)[i+1]
		_, err := c.compile(c.chosen())
		var not unplayed
		if !errors.As(err, &not) || string(not) != want {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if w := read(t)[2].chosen(); w.pods() != 7 {
		t.Errorf("a threshold of %v", w.pods())
	}
}
