package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// scene is a workload as it is played: what is there before, what is measured, and what happens
// meanwhile.
type scene struct {
	objects []string // manifests of all but pods
	before  []batch  // pods that are placed first, in turns
	measure batch
	beside  []event // in order of time
	nodes   int

	threshold float64
	churns    []*op // from which beside is made once it is known what is measured
	deletes   []*op
}

// batch is a number of equal pods.
type batch struct {
	count     int
	namespace string
	name      string // NAME-0, NAME-1 and so on
	text      string // JSON of the pod, named by nameMark
}

const nameMark = "name-of-the-pod"

// pod returns one of the pods.
func (b *batch) pod(i int) string {
	return strings.Replace(b.text, nameMark, fmt.Sprintf("%s-%d", b.name, i), 1)
}

// event is something that happens while pods are measured: an object is created or deleted.
type event struct {
	at     time.Duration // in upstream's time, in which pods come at the threshold's rate
	create string
	remove object
}

type object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// compiling reads the operations of a workload.
type compiling struct {
	*testCase
	w   *workload
	out *scene
}

// gates are features that change no answer of a scheduler, or that v1.36 has on whatever is said.
var gates = []string{"SchedulerQueueingHints", "SchedulerAsyncAPICalls", "SchedulerAsyncPreemption", "NodeInclusionPolicyInPodTopologySpread"}

// compile reads a workload. Its error is an unplayed where the workload has what is not played.
func (c *testCase) compile(w *workload) (*scene, error) {
	p := &compiling{c, w, &scene{threshold: w.pods()}}
	if c.SchedulerConfigPath != "" {
		return nil, unplayed("a configuration of its own, " + c.SchedulerConfigPath)
	}
	for _, of := range []map[string]bool{c.FeatureGates, w.FeatureGates} {
		for gate := range of {
			if !slices.Contains(gates, gate) {
				return nil, unplayed("the feature gate " + gate)
			}
		}
	}
	for i, raw := range c.WorkloadTemplate {
		o, err := decodeOp(raw)
		if err == nil {
			err = p.add(i, o)
		}
		if err != nil {
			return nil, err
		}
	}
	if p.out.measure.count == 0 {
		return nil, unplayed("no createPods that collects metrics")
	}
	return p.out, p.besides()
}

// number returns a count, which may be a parameter.
func (p *compiling) number(o *op) (int, error) {
	if o.CountParam == "" {
		return o.Count, nil
	}
	n, ok := p.w.Params[strings.TrimPrefix(o.CountParam, "$")].(float64)
	if !ok {
		return 0, fmt.Errorf("%s: the workload has no parameter %s", p.w.Name, o.CountParam)
	}
	return int(n), nil
}

func (p *compiling) add(i int, o *op) error {
	n, err := p.number(o)
	if err != nil {
		return err
	}
	if p.out.measure.count > 0 && o.Opcode != "barrier" && o.Opcode != "stopCollectingMetrics" {
		return unplayed(o.Opcode + " after what is measured")
	}
	switch o.Opcode {
	case "createNodes":
		return p.createNodes(o, n)
	case "createNamespaces":
		for k := range n {
			if err := p.namespace(fmt.Sprint(o.Prefix, "-", k), o.NamespaceTemplatePath); err != nil {
				return err
			}
		}
		return nil
	case "createPodSets":
		if o.CreatePodsOp == nil {
			return unplayed("createPodSets without createPodsOp")
		}
		each, err := p.number(o.CreatePodsOp)
		for k := 0; k < n && err == nil; k++ {
			set := *o.CreatePodsOp
			set.Namespace = fmt.Sprint(o.NamespacePrefix, "-", k)
			err = p.createPods(i, &set, each)
		}
		return err
	case "createPods":
		return p.createPods(i, o, n)
	case "createAny":
		text, err := p.template(o.TemplatePath, o.Namespace)
		p.out.objects = append(p.out.objects, strings.Replace(text, nameMark, fmt.Sprint("any-", i), 1))
		if err == nil && o.Namespace != "" {
			err = p.namespace(o.Namespace, "")
		}
		return err
	case "churn":
		if o.Namespace == "" {
			o.Namespace = fmt.Sprint("namespace-", i)
		}
		p.out.churns = append(p.out.churns, o)
		return p.namespace(o.Namespace, "")
	case "deletePods":
		p.out.deletes = append(p.out.deletes, o)
		return nil
	case "barrier", "sleep", "startCollectingMetrics", "stopCollectingMetrics":
		return nil // each step waits for the one before, and what is measured is one createPods
	}
	return unplayed("the opcode " + o.Opcode)
}

// besides lays what happens beside the measured pods out in time: as much as would happen if they
// came at the rate of upstream's threshold.
func (p *compiling) besides() error {
	s := p.out
	if s.threshold == 0 && len(s.churns)+len(s.deletes) > 0 {
		return unplayed("churn without a threshold, which is what paces it")
	}
	end := time.Duration(float64(s.measure.count) / s.threshold * float64(time.Second))
	for _, o := range s.churns {
		interval := time.Duration(cmp.Or(o.IntervalMilliseconds, 500)) * time.Millisecond
		for k := 0; time.Duration(k)*interval < end && (o.Mode != "create" || o.Number == 0 || k < o.Number); k++ {
			for t, path := range o.TemplatePaths {
				text, err := p.template(path, o.Namespace)
				if err != nil {
					return err
				}
				// In mode recreate N cycles create what the next N delete.
				e := event{at: time.Duration(k) * interval}
				if o.Mode == "recreate" && k/o.Number%2 == 1 {
					if err := json.Unmarshal([]byte(text), &e.remove); err != nil { // the kind
						return err
					}
					e.remove.Name = fmt.Sprintf("churn-%d-%d", t, k-o.Number)
					if e.remove.Kind != "Node" {
						e.remove.Namespace = o.Namespace
					}
				} else {
					e.create = strings.Replace(text, nameMark, fmt.Sprintf("churn-%d-%d", t, k), 1)
				}
				s.beside = append(s.beside, e)
			}
		}
	}
	for _, o := range s.deletes {
		at := slices.IndexFunc(s.before, func(b batch) bool { return b.namespace == o.Namespace })
		if at < 0 || o.DeletePodsPerSecond == 0 {
			return unplayed("deletePods of pods that createPods did not make, or all at once")
		}
		b := &s.before[at]
		for k := range b.count {
			when := time.Duration(k) * time.Second / time.Duration(o.DeletePodsPerSecond)
			if when >= end {
				break
			}
			s.beside = append(s.beside, event{at: when, remove: object{"Pod", b.namespace, fmt.Sprintf("%s-%d", b.name, k)}})
		}
	}
	slices.SortStableFunc(s.beside, func(a, b event) int { return int(a.at - b.at) })
	return nil
}

func (p *compiling) createNodes(o *op, n int) error {
	var first corev1.Node
	// Without a template it is that of util.go makeBaseNode, which is equal.
	if err := p.read(cmp.Or(o.NodeTemplatePath, "../templates/node-default.yaml"), &first); err != nil {
		return err
	}
	for i := range n {
		node := *first.DeepCopy()
		if node.Name == "" {
			node.Name = fmt.Sprint(node.GenerateName, p.out.nodes)
		}
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[corev1.LabelHostname] = node.Name // node_util.go PrepareNodes
		if s := o.LabelNodePrepareStrategy; s != nil {
			node.Labels[s.LabelKey] = s.LabelValues[i%len(s.LabelValues)]
		}
		p.out.nodes++
		js, err := json.Marshal(&node)
		if err != nil {
			return err
		}
		p.out.objects = append(p.out.objects, string(js))
	}
	return nil
}

func (p *compiling) namespace(name, path string) error {
	ns := corev1.Namespace{}
	if path != "" {
		if err := p.read(path, &ns); err != nil {
			return err
		}
	}
	ns.APIVersion, ns.Kind, ns.Name = "v1", "Namespace", name
	js, err := json.Marshal(&ns)
	p.out.objects = append(p.out.objects, string(js))
	return err
}

func (p *compiling) createPods(i int, o *op, n int) error {
	// Without a template it is that of util.go makeBasePod, which is equal.
	path := cmp.Or(o.PodTemplatePath, p.DefaultPodTemplatePath, "../templates/pod-default.yaml")
	b := batch{count: n, namespace: o.Namespace, name: fmt.Sprintf("p%d", i)}
	if b.namespace == "" {
		b.namespace = fmt.Sprint("namespace-", i)
		if err := p.namespace(b.namespace, ""); err != nil {
			return err
		}
	}
	var err error
	if b.text, err = p.template(path, b.namespace); err != nil {
		return err
	}
	if o.CollectMetrics {
		p.out.measure = b
	} else {
		p.out.before = append(p.out.before, b)
	}
	return nil
}

// template reads a manifest as JSON, with nameMark as its name.
func (p *compiling) template(path, namespace string) (string, error) {
	var m map[string]any
	if err := p.read(path, &m); err != nil {
		return "", err
	}
	var o any = m
	meta, _ := m["metadata"].(map[string]any)
	if m["kind"] == "Pod" { // through its type, which reads fields in any case as upstream does
		var pod corev1.Pod
		if err := p.read(path, &pod); err != nil {
			return "", err
		}
		pod.GenerateName, pod.Name, pod.Namespace = "", nameMark, namespace
		o = &pod
	} else {
		delete(meta, "generateName")
		if meta["name"] = nameMark; m["kind"] != "Node" && namespace != "" {
			meta["namespace"] = namespace
		}
	}
	js, err := json.Marshal(o)
	return string(js), err
}

func (p *compiling) read(path string, into any) error {
	text, err := os.ReadFile(filepath.Join(p.dir, path))
	if err == nil && strings.Contains(string(text), "{{") {
		return unplayed("the template of text in " + path)
	}
	return errors.Join(err, yaml.Unmarshal(text, into))
}
