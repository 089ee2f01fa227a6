package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/words"
)

// target describes which pod a question is about: one that the source knows by its
// name, or one that was given whole.
type target struct {
	namespace, name string
	owner           string          // the kind, where the name is of what makes pods
	whole           json.RawMessage // as it was given; nil: by name
	from            *workload       // what it was made from; nil for a pod itself
}

// String returns namespace/name.
func (t target) String() string { return t.namespace + "/" + t.name }

// stdinName stands for standard input where a file is meant.
const stdinName = "-"

// target reads the pod of a command: NAME, pod/NAME, NAMESPACE/NAME, or - for
// one on stdin; file is the value of -f.
func (a *app) target(args []string, file string) (target, error) {
	if len(args) == 1 && args[0] == stdinName {
		args, file = nil, stdinName
	}
	if file != "" {
		return a.readTarget(args, file)
	}
	if len(args) == 0 {
		return target{}, &problem{what: "which pod?", next: "Name one (checkout, pod/checkout, shop/checkout, deploy/checkout), or pass the full object with -f FILE or -."}
	}
	return a.parse(args[0])
}

// parse reads the name of a pod.
func (a *app) parse(text string) (target, error) {
	namespace, err := a.namespace()
	if err != nil {
		return target{}, err
	}
	return parseTarget(text, namespace)
}

func parseTarget(text, namespace string) (target, error) {
	parts := strings.Split(text, "/")
	if len(parts) > 1 {
		switch parts[0] {
		case "pod", "pods", "po":
			parts = parts[1:]
		}
	}
	t := target{namespace: namespace, name: parts[len(parts)-1]}
	kind, _, _ := strings.Cut(parts[0], ".") // of deployment.apps
	switch {
	case len(parts) == 2 && owners[kind] != "":
		t.owner = owners[kind]
	case len(parts) == 2:
		t.namespace = parts[0]
	}
	if len(parts) > 2 || t.name == "" || t.namespace == "" {
		return target{}, fmt.Errorf("%q does not name a pod: want NAME, pod/NAME, NAMESPACE/NAME, or deploy/NAME (rs, sts, ds, rc, job, cronjob) for a pod of it that waits", text)
	}
	return t, nil
}

// readTarget takes the pod from a file; a name describes which, where there are
// several.
func (a *app) readTarget(args []string, file string) (target, error) {
	in, err := a.readInput(file)
	if err != nil {
		return target{}, err
	}
	a.besides(in, file)
	if len(args) == 0 {
		if len(in.pods) == 1 {
			a.tell(in.pods[0], file)
			return in.pods[0], nil
		}
		return target{}, &problem{what: fmt.Sprintf("%s holds %d pods", nameOfFile(file), len(in.pods)), next: "Say which: the name of one of them, and -f " + file}
	}
	want, err := a.parse(args[0])
	if err != nil {
		return target{}, err
	}
	for _, p := range in.pods {
		if p.is(want) {
			a.tell(p, file)
			return p, nil
		}
	}
	return target{}, noSuchPod(nameOfFile(file), want, in.pods)
}

// fileLimits bound a file of a person's own, which has no other sender: a list of all pods in YAML
// is one document.
var fileLimits = object.Limits{
	Input: "the file", MaxObjectBytes: 1 << 30, MaxYAMLTokens: 20_000_000, MaxAliases: object.DefaultMaxAliases,
}

// eachObject calls f for every object, those within Lists one by one.
func eachObject(r io.Reader, f func(kind string, raw json.RawMessage) error) error {
	return object.Documents(r, fileLimits, func(d object.Document) error {
		if string(d.JSON) == "null" {
			return nil // a document that is empty
		}
		err := eachItem(d.JSON, "", f)
		if err != nil && d.Number > 1 {
			return fmt.Errorf("document %d, line %d: %w", d.Number, d.Line, err)
		}
		return err
	})
}

// eachItem takes lists apart. within is the kind that a list of one kind gives
// its items, which kubectl leaves out there.
func eachItem(raw json.RawMessage, within string, f func(kind string, raw json.RawMessage) error) error {
	var head struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
		Spec  json.RawMessage   `json:"spec"`
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return errors.New("it is not an object")
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &head); errors.As(err, &wrong) {
		return fmt.Errorf("%s is %s, which no Kubernetes object has there", wrong.Field, wrong.Value)
	} else if err != nil {
		return err
	}
	kind := head.Kind
	if kind == "" {
		kind = within
	}
	of, isList := strings.CutSuffix(kind, "List")
	if !isList {
		if kind == "" && head.Spec != nil {
			kind = "Pod" // a bare one, as the REST API takes it
		}
		return f(kind, raw)
	}
	for _, item := range head.Items {
		if err := eachItem(item, of, f); err != nil {
			return err
		}
	}
	return nil
}

// open opens a file, or stdin for -.
func (a *app) open(file string) (io.Reader, func(), error) {
	if file != stdinName {
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, &problem{what: "there is no file " + file, next: "Make one: " + revision.Collect + " > cluster.json, or kubectl get pod NAME -o json > pod.json."}
		}
		if err != nil {
			return nil, nil, err
		}
		r, err := inflated(f)
		if err != nil {
			_ = f.Close()
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		return r, func() { _ = f.Close() }, nil
	}
	if a.Typed {
		return nil, nil, &problem{what: "nothing comes in on stdin", next: "Pipe it in: kubectl get pod NAME -o json | " + a.name + " …"}
	}
	if a.read {
		return nil, nil, errors.New("stdin is used twice: give the pod or the snapshot as a file")
	}
	a.read = true
	r, err := inflated(a.In)
	return r, func() {}, err
}

// inflated reads what is compressed by gzip as what it was before.
func inflated(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(2); string(head) != "\x1f\x8b" {
		return in, nil
	}
	return gzip.NewReader(in)
}

func nameOfFile(file string) string {
	if file == stdinName {
		return "stdin"
	}
	return file
}

// args names a pod again as it was named.
func args(pod target, file string) []string {
	if pod.whole == nil {
		return []string{pod.String()}
	}
	if file == "" {
		file = stdinName
	}
	return []string{pod.String(), "-f", file}
}

// again returns commands about the same pod at the same source.
func (a *app) again(pod []string) func(command string, more ...string) []string {
	return func(command string, more ...string) []string {
		words := append([]string{a.name, command}, pod...)
		words = append(words, a.o.again()...)
		return append(words, more...)
	}
}

// named returns the names in a pod's spec; empty for a pod that is not there.
func named(ctx context.Context, from *source, t target) (names, error) {
	if t.whole != nil {
		return namedIn(t.whole)
	}
	o, err := from.object(ctx, "Pod", t.namespace, t.name)
	if err != nil || o == nil {
		return names{}, err
	}
	return o.Spec.names, nil
}

// namedIn reads the names in the spec of a pod that was given whole.
func namedIn(whole json.RawMessage) (names, error) {
	var pod struct {
		Spec names `json:"spec"`
	}
	err := json.Unmarshal(whole, &pod)
	return pod.Spec, err
}

// owners are the kinds that make pods, by the words that kubectl takes for them.
var owners = map[string]string{
	"deploy": "Deployment", "deployment": "Deployment", "deployments": "Deployment",
	"rs": "ReplicaSet", "replicaset": "ReplicaSet", "replicasets": "ReplicaSet",
	"sts": "StatefulSet", "statefulset": "StatefulSet", "statefulsets": "StatefulSet",
	"ds": "DaemonSet", "daemonset": "DaemonSet", "daemonsets": "DaemonSet",
	"rc": "ReplicationController", "replicationcontroller": "ReplicationController", "replicationcontrollers": "ReplicationController",
	"job": "Job", "jobs": "Job", "cj": "CronJob", "cronjob": "CronJob", "cronjobs": "CronJob",
}

// find turns the owner of pods into one of its pods that waits, the oldest. Any
// other target stays as it is.
func (a *app) find(ctx context.Context, from *source, t target) (target, error) {
	if t.owner == "" {
		return t, nil
	}
	about := fmt.Sprintf("%s %s", t.owner, t)
	var all, waiting []*item
	makes, err := makers(ctx, from, t)
	if err != nil {
		return t, err
	}
	err = from.objects(ctx, "Pod", func(o *item) error {
		if o.Metadata.Namespace != t.namespace || !makes(metav1.GetControllerOf(&o.Metadata)) {
			return nil
		}
		all = append(all, o)
		if o.waits() {
			waiting = append(waiting, o)
		}
		return nil
	})
	switch {
	case err != nil:
		return t, err
	case len(all) == 0:
		return t, &problem{what: about + " has no pods here", next: fmt.Sprintf("In another namespace: -n NAMESPACE. The pod that it would make: kubectl get %s -n %s %s -o json | %s explain -", strings.ToLower(t.owner), t.namespace, t.name, a.name)}
	case len(waiting) == 0:
		return t, &problem{what: fmt.Sprintf("%s has %s, none of which waits for a node", about, plural(len(all), "pod")), next: "Name one of them: " + someNames(namesOf(all))}
	}
	slices.SortStableFunc(waiting, func(x, y *item) int {
		return cmp.Or(x.Metadata.CreationTimestamp.Compare(y.Metadata.CreationTimestamp.Time), cmp.Compare(x.Metadata.Name, y.Metadata.Name))
	})
	found := waiting[0].target()
	if len(waiting) > 1 {
		fmt.Fprintf(a.Err, "%s: %s of %d pods wait; this is about %s\n", about, count(len(waiting)), len(all), found)
	}
	return found, nil
}

// makers tells which controllers' pods are an owner's: its own, those of a
// Deployment's ReplicaSets, or of a CronJob's Jobs. Jobs are not kept, so a
// CronJob's are known by their names, which end in minutes since 1970
// (pkg/controller/cronjob utils.go getJobName).
func makers(ctx context.Context, from *source, t target) (func(*metav1.OwnerReference) bool, error) {
	switch t.owner {
	case "Deployment":
		sets := map[string]bool{}
		err := from.objects(ctx, "ReplicaSet", func(o *item) error {
			c := metav1.GetControllerOf(&o.Metadata)
			if o.Metadata.Namespace == t.namespace && c != nil && c.Kind == t.owner && c.Name == t.name {
				sets[o.Metadata.Name] = true
			}
			return nil
		})
		return func(c *metav1.OwnerReference) bool { return c != nil && c.Kind == "ReplicaSet" && sets[c.Name] }, err
	case "CronJob":
		return func(c *metav1.OwnerReference) bool {
			if c == nil || c.Kind != "Job" {
				return false
			}
			at := strings.LastIndexByte(c.Name, '-')
			return at >= 0 && c.Name[:at] == t.name && strings.Trim(c.Name[at+1:], "0123456789") == ""
		}, nil
	}
	return func(c *metav1.OwnerReference) bool { return c != nil && c.Kind == t.owner && c.Name == t.name }, nil
}

func namesOf(list []*item) []string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = o.Metadata.Name
	}
	return names
}

// meant returns what to do about a pod that is not there: most often the namespace is
// another, or the name is not whole.
func meant(ctx context.Context, from *source, t target, p *problem) error {
	var near, elsewhere, own, all []string
	err := from.objects(ctx, "Pod", func(o *item) error {
		all = append(all, o.Metadata.Namespace+"/"+o.Metadata.Name)
		if o.Metadata.Namespace == t.namespace {
			own = append(own, o.Metadata.Name)
		}
		switch {
		case o.Metadata.Namespace == t.namespace && strings.HasPrefix(o.Metadata.Name, t.name):
			near = append(near, o.Metadata.Name)
		case o.Metadata.Name == t.name:
			elsewhere = append(elsewhere, o.Metadata.Namespace)
		}
		return nil
	})
	switch {
	case err != nil:
		return p
	case len(elsewhere) > 0:
		p.next = fmt.Sprintf("There is one of that name in another namespace: -n %s.", elsewhere[0])
	case len(near) > 0:
		p.next = fmt.Sprintf("Did you mean %s?", someNames(near))
	default:
		if name, ok := misspelt(t.name, own); ok {
			p.next = fmt.Sprintf("Did you mean %s/%s?", t.namespace, name)
		} else if name, ok := misspelt(t.String(), all); ok {
			p.next = fmt.Sprintf("Did you mean %s?", name)
		}
	}
	return p
}

// misspelt returns the name that was meant, which may be written without the ends that controllers
// give to the names of their pods.
func misspelt(name string, names []string) (string, bool) {
	if found, ok := words.Nearest(name, names); ok {
		return found, true
	}
	short := slices.Clone(names)
	for range 2 {
		for i, n := range short {
			if at := strings.LastIndexByte(n, '-'); at > 0 {
				short[i] = n[:at]
			}
		}
		if found, ok := words.Nearest(name, short); ok {
			return names[slices.Index(short, found)], true
		}
	}
	return "", false
}
