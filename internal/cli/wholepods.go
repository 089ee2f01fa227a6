package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"berth/internal/kube/object"
	"berth/internal/podlife"
)

// input is pods as kubectl printed them, and the nodes beside them.
type input struct {
	pods  []target
	nodes map[string]json.RawMessage
	// budgets are the PodDisruptionBudgets beside them; nil without any.
	budgets []json.RawMessage
	// others are objects of other kinds.
	others []other
	// claims are those that controllers make for the pods.
	claims []json.RawMessage
	// whole reports whether it is a cluster: a node that it does not have does not exist.
	whole bool
}

// wholePods reads pods whole: from a file or stdin, or by name from a snapshot.
// Without a name all that a file holds are meant.
func (a *app) wholePods(ctx context.Context, names []string, file string) (*input, error) {
	if len(names) == 1 && names[0] == stdinName {
		names, file = nil, stdinName
	}
	from := file
	switch {
	case file != "":
	case a.o.snapshot != "":
		from = a.o.snapshot
	case len(names) == 0 && !a.Typed:
		from = stdinName
	case len(names) == 1 && a.o.server != "": // which has the pod, its node and the budgets
		want, err := a.parse(names[0])
		return &input{pods: []target{want}}, err
	default:
		return a.livePods(ctx, names)
	}
	in, err := a.readInput(from)
	if err != nil {
		return nil, err
	}
	in.whole = file == "" && a.o.snapshot != ""
	if len(names) > 0 {
		want, err := a.parse(names[0])
		if err != nil {
			return nil, err
		}
		if in, err = in.only(want, nameOfFile(from)); err != nil {
			return nil, err
		}
	}
	for i, p := range in.pods {
		if p.name == "" && p.from == nil {
			return nil, &problem{what: fmt.Sprintf("%s: pod %d has no metadata.name", nameOfFile(from), i+1), next: "Expected the output of kubectl get pod -o json (or -o yaml)."}
		}
	}
	if len(in.pods) == 1 {
		a.tell(in.pods[0], from)
	}
	return in, nil
}

// livePods reads pods whole from the cluster that kubectl points at.
func (a *app) livePods(ctx context.Context, names []string) (*input, error) {
	l, err := a.live()
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, &problem{
			what: "this needs the whole pod",
			next: "Pipe it in: kubectl get pod NAME -o json | " + a.name + " … -\nor give a file with -f, a dump with --snapshot, or a cluster with --kubeconfig.",
		}
	}
	var want target
	if len(names) > 0 {
		want, err = a.parse(names[0])
	} else {
		want.namespace, err = a.namespace()
	}
	if err != nil {
		return nil, err
	}
	in, err := a.wholeFrom(ctx, l, want)
	if err != nil || want.name == "" {
		return in, err
	}
	return in.only(want, "the cluster")
}

// only leaves the one pod of that name.
func (in *input) only(want target, where string) (*input, error) {
	for _, p := range in.pods {
		if p.is(want) {
			in.pods = []target{p}
			return in, nil
		}
	}
	return nil, noSuchPod(where, want, in.pods)
}

// is reports whether a pod is the one that is wanted, or was made from the workload that is.
func (t target) is(want target) bool {
	if want.owner != "" {
		return t.from != nil && t.from.kind == want.owner && t.from.name == want.name && t.namespace == want.namespace
	}
	return t.namespace == want.namespace && t.name == want.name
}

// noSuchPod returns where else a pod of the name is.
func noSuchPod(where string, want target, pods []target) error {
	p := &problem{what: fmt.Sprintf("%s holds no pod %s, but %s", where, want, plural(len(pods), "other"))}
	var near []string
	for _, other := range pods {
		switch {
		case other.name == want.name:
			p.next = "There is one of that name in another namespace: -n " + other.namespace
			return p
		case other.namespace == want.namespace && strings.HasPrefix(other.name, want.name):
			near = append(near, other.name)
		}
	}
	switch {
	case want.owner != "":
		p.what, p.next = fmt.Sprintf("%s holds no %s %s that makes pods", where, want.owner, want), "Workloads in a file with pods are ignored: name a pod, or give a file without pods."
	case len(near) > 0:
		p.next = fmt.Sprintf("Did you mean %s?", someNames(near))
	}
	return p
}

// readInput reads all pods and nodes of a file: what kubectl get -o json or -o
// yaml prints, one object, a List, or several documents.
func (a *app) readInput(file string) (*input, error) {
	r, done, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer done()
	in := &input{nodes: map[string]json.RawMessage{}}
	err = eachObject(r, func(kind string, raw json.RawMessage) error {
		return in.add(kind, raw)
	})
	if err == nil && len(in.pods) == 0 {
		err = in.makePods(a.counted)
	}
	if err == nil && len(in.pods) == 0 {
		err = errors.New("it contains no pod")
	}
	if err != nil {
		return nil, &problem{what: nameOfFile(file), why: err, next: "Expected the output of kubectl get pod -o json (or -o yaml)."}
	}
	return in, nil
}

// add takes an object of a file.
func (in *input) add(kind string, raw json.RawMessage) error {
	if kind == kindBudget {
		in.budgets = append(in.budgets, raw)
	}
	if kind != "Pod" && kind != "Node" {
		in.others = append(in.others, other{kind, raw})
		return nil
	}
	var head struct {
		Metadata types.NamespacedName `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	if kind == "Node" {
		in.nodes[head.Metadata.Name] = raw
		return nil
	}
	t := target{namespace: head.Metadata.Namespace, name: head.Metadata.Name, whole: raw}
	if t.namespace == "" {
		t.namespace = "default"
	}
	in.pods = append(in.pods, t)
	return nil
}

const kindBudget = "PodDisruptionBudget"

// nodeOf returns the node that a pod is on: JSON null for one that is gone, nil
// where it is not known.
func (in *input) nodeOf(pod target, gone bool) json.RawMessage {
	null := json.RawMessage("null")
	if gone {
		return null
	}
	spec, err := namedIn(pod.whole)
	if err != nil || spec.Node == "" {
		return nil // what is wrong with the pod is said when it is read
	}
	if node, ok := in.nodes[spec.Node]; ok {
		return node
	}
	if in.whole && len(in.nodes) > 0 {
		return null
	}
	return nil
}

// storage finds the claims and classes of an input that has claims.
func (in *input) storage() podlife.Storage {
	claims, classes := map[string]*corev1.PersistentVolumeClaim{}, map[string]*storagev1.StorageClass{}
	for _, o := range in.others {
		switch o.kind {
		case "PersistentVolumeClaim":
			if c := (&corev1.PersistentVolumeClaim{}); decodeWhole(o.raw, c) == nil {
				claims[cmp.Or(c.Namespace, corev1.NamespaceDefault)+"/"+c.Name] = c
			}
		case "StorageClass":
			if c := (&storagev1.StorageClass{}); decodeWhole(o.raw, c) == nil {
				classes[c.Name] = c
			}
		}
	}
	if len(claims) == 0 { // a dump without claims tells of none
		return podlife.Storage{}
	}
	return podlife.Storage{
		Claim: func(namespace, name string) *corev1.PersistentVolumeClaim { return claims[namespace+"/"+name] },
		Class: func(name string) *storagev1.StorageClass { return classes[name] },
	}
}

// moment reads the value of --now.
func (a *app) moment(text string) (time.Time, error) {
	if text == "" {
		return a.Now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("--now %q: want a time such as 2026-01-31T12:00:00Z", text)
	}
	return t.UTC(), nil
}

// someNames lists names, the first few of many.
func someNames(list []string) string {
	const few = 4
	if len(list) > few {
		return strings.Join(list[:few], ", ") + fmt.Sprintf(" and %d more", len(list)-few)
	}
	return strings.Join(list, ", ")
}

// decodeWhole reads an object of which nothing is left out.
func decodeWhole(raw json.RawMessage, obj any) error {
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("want an object")
	}
	if errs := object.BoundQuantities(raw, obj); len(errs) > 0 {
		return errs.ToAggregate()
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, obj)
}
