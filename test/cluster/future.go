package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// course is a small cluster, what happens to it, and how exactly berth has to know.
type course struct {
	name string
	What string `json:"what"`
	// Tolerance is by how many seconds a time may differ. Starts is how long pods take to start.
	Tolerance float64 `json:"tolerance"`
	Starts    int64   `json:"starts"`
	// Manager are flags of kube-controller-manager, as which berth gets rates in the request.
	Manager []string `json:"manager"`
	// Equal are workloads of which chance decides which pod is taken. Same has nodes of which
	// chance decides which one is, by workload.
	Equal []string              `json:"equal"`
	Same  map[string][][]string `json:"same"`
	// Waiting is how many pods have no node at the start.
	Waiting int          `json:"waiting"`
	Nodes   []futureNode `json:"nodes"`
	Objects []json.RawMessage
	// Before are events that happen to the cluster before its question, one when all is quiet
	// after the other.
	Before []happening `json:"before"`
	// Request is the question. Its events happen to the cluster, too.
	Request map[string]json.RawMessage `json:"request"`
	// Quiet is for how many more seconds nothing may happen at the end.
	Quiet int64 `json:"quiet"`
}

type futureNode struct {
	Name   string            `json:"name"`
	CPU    string            `json:"cpu"`
	Closed bool              `json:"closed"` // it is cordoned
	Labels map[string]string `json:"labels"`
	Taints []corev1.Taint    `json:"taints"`
}

//go:embed future/*.yaml
var futureRows embed.FS

// future is a row that is being tried.
type future struct {
	*course
	e       *env
	p       *plane
	k       *nodelets
	seen    *sightings
	berth   *server
	objects []*unstructured.Unstructured
	said    answer
	drains  sync.WaitGroup
}

// answer is what berth says, as far as it is compared.
type answer struct {
	Clock struct {
		Seconds  int64
		Ended    string
		Timeline []struct {
			AfterSeconds                int64
			What, Pod, Owner, Node, Why string
		}
	}
	Warnings []string
}

// planesAtOnce is how many control planes run beside one another.
const planesAtOnce = 3

// futures holds berth's scenarios with a clock to control planes with all controllers.
func futures(ctx context.Context, e *env) error {
	list, err := futureList(e.options.rows)
	if err != nil {
		return err
	}
	s := &server{program: e.options.server, dir: e.dir, name: "berth"}
	if s.listen, err = freeAddress(); err != nil {
		return err
	}
	s.args = []string{"--listen", s.listen, "--data-dir", filepath.Join(e.dir, "data")}
	if err := e.start(s); err != nil {
		return err
	}
	x, err := explanations()
	if err != nil {
		return err
	}
	turn := make(chan struct{}, planesAtOnce)
	var group sync.WaitGroup
	for _, r := range list {
		turn <- struct{}{}
		group.Go(func() {
			defer func() { <-turn }()
			f := &future{course: r, e: e, berth: s}
			began := time.Now()
			same, lines, err := f.try(ctx)
			e.check(err == nil, "%s: %v", r.name, err)
			left := x.explain(r.name, lines)
			for _, l := range left {
				e.check(false, "%s: %s", r.name, l)
			}
			e.figure("%-12s %3d moments as said within %g s, %d explained, %d not; %d s of %.0f s played", r.name, same, r.Tolerance, len(lines)-len(left), len(left), f.said.Clock.Seconds, time.Since(began).Seconds())
		})
	}
	group.Wait()
	if e.options.rows == "" {
		for _, l := range x.unused() {
			e.figure("explained nothing this time: %s", l)
		}
	}
	return nil
}

// futureList reads the rows, or those that are named.
func futureList(only string) (list []*course, err error) {
	files, err := futureRows.ReadDir("future")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		raw, err := futureRows.ReadFile("future/" + f.Name())
		if err != nil {
			return nil, err
		}
		r := &course{name: strings.TrimSuffix(f.Name(), ".yaml")}
		if err := yaml.UnmarshalStrict(raw, r); err != nil {
			return nil, fmt.Errorf("future/%s: %w", f.Name(), err)
		}
		if only == "" || slices.Contains(strings.Split(only, ","), r.name) {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("future has no %s", only)
	}
	return list, nil
}

// try builds the cluster, asks berth, does the same to the cluster and compares. It returns how
// many moments are as berth said, and a line for each that is not.
func (f *future) try(ctx context.Context) (same int, lines []string, err error) {
	dir := filepath.Join(f.e.dir, f.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if f.p, err = startPlane(ctx, f.e.bin, dir, f.Manager...); err != nil {
		return 0, nil, err
	}
	defer f.p.stop()
	f.seen = newSightings(f.course)
	f.k = startNodelets(ctx, f.p, time.Duration(f.Starts)*time.Second, f.seen)
	if err := f.build(ctx); err != nil {
		return 0, nil, err
	}
	if err := f.named(); err != nil {
		return 0, nil, err
	}
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	start := time.Now()
	f.seen.begin(start)
	id, err := f.ask(ctx, dir, start)
	if err != nil {
		return 0, nil, err
	}
	if err := f.play(ctx, start); err != nil {
		return 0, nil, err
	}
	rest := time.Duration(f.said.Clock.Seconds+f.Quiet+2)*time.Second + time.Duration(f.Tolerance*float64(time.Second))
	time.Sleep(time.Until(start.Add(rest)))
	there, err := f.there(ctx)
	if err != nil {
		return 0, nil, err
	}
	said, err := f.saidThere(ctx, id)
	if err != nil {
		return 0, nil, err
	}
	same, lines = f.compare()
	lines = append(lines, differ(said, there)...)
	if p := filepath.Join(dir, "lines.txt"); len(lines) > 0 {
		err = os.WriteFile(p, []byte(f.tell()), 0o600)
	}
	f.seen.mu.Lock()
	defer f.seen.mu.Unlock()
	return same, lines, errors.Join(append(f.seen.errs, err)...)
}

// build makes nodes and objects, and waits until nothing happens any more.
func (f *future) build(ctx context.Context) error {
	for _, n := range f.Nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{corev1.LabelHostname: n.Name}, Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}}
		for k, v := range n.Labels {
			node.Labels[k] = v
		}
		node.Spec.Taints, node.Spec.Unschedulable = n.Taints, n.Closed
		node.Status.Allocatable = list(n.CPU, "64Gi")
		node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
		node.Status.Capacity = node.Status.Allocatable
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
		if _, err := f.p.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, raw := range f.Objects {
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw, &o.Object); err != nil {
			return err
		}
		f.objects = append(f.objects, o)
		if err := f.p.apply(ctx, o); err != nil {
			return err
		}
	}
	if err := f.quieten(ctx, 4*time.Second); err != nil {
		return err
	}
	for i := range f.Before {
		if err := f.happen(ctx, &f.Before[i]); err != nil {
			return err
		}
		if err := f.quieten(ctx, 1500*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// quieten waits until nothing happens any more.
func (f *future) quieten(ctx context.Context, after time.Duration) error {
	began := time.Now()
	return until(ctx, 60*time.Second, "all is quiet and all pods are ready", func() bool {
		f.seen.mu.Lock()
		quiet := time.Since(began) > after && time.Since(f.seen.last) > after
		f.seen.mu.Unlock()
		waiting := 0
		f.k.mu.Lock()
		defer f.k.mu.Unlock()
		for _, p := range f.k.pods {
			if !isReady(p) {
				waiting++
			}
		}
		return quiet && len(f.k.pods) > 0 && waiting == f.Waiting
	})
}

// ask has berth say what will happen, as a job, so that its end can be read.
func (f *future) ask(ctx context.Context, dir string, now time.Time) (id string, err error) {
	dump, err := f.p.dump(ctx)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), dump, 0o600); err != nil {
		return "", err
	}
	if err := f.berth.call(ctx, http.MethodPost, "/v1/snapshots?cluster="+f.name, dump, nil); err != nil {
		return "", err
	}
	q := map[string]any{"base": f.name + "@latest", "clock": true, "now": now.UTC(), "startSeconds": f.Starts, "wait": "0s"}
	for k, v := range f.Request {
		q[k] = v
	}
	js, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "request.json"), js, 0o600); err != nil {
		return "", err
	}
	var job struct {
		ID, State string
		Result    json.RawMessage
		Error     json.RawMessage
	}
	if err := f.berth.call(ctx, http.MethodPost, "/v1/simulations", q, &job); err != nil {
		return "", err
	}
	id = job.ID
	if err := until(ctx, 20*time.Second, "berth's answer", func() bool {
		err = f.berth.call(ctx, http.MethodGet, "/v1/simulations/"+id, nil, &job)
		return err != nil || job.State == "done" || job.State == "failed"
	}); err != nil || job.State != "done" {
		return "", errors.Join(err, fmt.Errorf("job is %s: %s", job.State, job.Error))
	}
	if err := os.WriteFile(filepath.Join(dir, "answer.json"), job.Result, 0o600); err != nil {
		return "", err
	}
	return id, json.Unmarshal(job.Result, &f.said)
}

// workload is Kind/name of what an owner of pods is of: a ReplicaSet's Deployment.
func (r *course) workload(owner string) string {
	set, is := strings.CutPrefix(owner, "ReplicaSet/")
	for _, raw := range r.Objects {
		var o metav1.PartialObjectMetadata
		if json.Unmarshal(raw, &o) == nil && is && o.Kind == "Deployment" && strings.HasPrefix(set, o.Name+"-") {
			return "Deployment/" + o.Name
		}
	}
	return owner
}

// class is a node, or those that are the same for a workload.
func (r *course) class(node, workload string) string {
	for _, same := range r.Same[workload] {
		if slices.Contains(same, node) {
			return strings.Join(same, "|")
		}
	}
	return node
}

// podNamed is a pod of a workload in a request, such as @Deployment/web/0: the first by name.
var podNamed = regexp.MustCompile(`@(\w+/[-\w]+)/(\d+)`)

// named puts the names of pods into the request's events.
func (f *future) named() error {
	var failed error
	raw := podNamed.ReplaceAllFunc(f.Request["events"], func(match []byte) []byte {
		part := podNamed.FindSubmatch(match)
		var names []string
		f.k.mu.Lock()
		defer f.k.mu.Unlock()
		for _, p := range f.k.pods {
			if f.workload(ownerOf(p)) == string(part[1]) {
				names = append(names, p.Name)
			}
		}
		slices.Sort(names)
		n, err := strconv.Atoi(string(part[2]))
		if err != nil || n >= len(names) {
			failed = fmt.Errorf("there is no pod %s", match)
			return match
		}
		return []byte(names[n])
	})
	f.Request["events"] = raw
	return failed
}
