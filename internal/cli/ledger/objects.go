package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"berth/internal/kube/object"
)

// Ref names an object.
type Ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns the name as kubectl prints it: pod/a, and node/n1.
func (r Ref) String() string { return strings.ToLower(r.Kind) + "/" + r.Name }

// manifest is an object of a file.
type manifest struct {
	Ref
	json json.RawMessage
}

// shortNames are kubectl's.
var shortNames = map[string]string{
	"po": "Pod", "no": "Node", "ns": "Namespace", "svc": "Service", "rc": "ReplicationController", "rs": "ReplicaSet", "sts": "StatefulSet",
	"deploy": "Deployment", "ds": "DaemonSet", "cj": "CronJob", "pdb": "PodDisruptionBudget", "pc": "PriorityClass", "pv": "PersistentVolume",
	"pvc": "PersistentVolumeClaim", "sc": "StorageClass", "limits": "LimitRange", "quota": "ResourceQuota",
}

// longNames are the other kinds that are kept.
var longNames = []string{"Job", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "RuntimeClass", "DeviceClass", "ResourceClaim", "ResourceSlice"}

// kindOf returns the kind that a word of a command line names, in kubectl's ways: pod, pods, po.
func kindOf(word string) (string, error) {
	word = strings.ToLower(word)
	if kind, ok := shortNames[word]; ok {
		return kind, nil
	}
	all := slices.Clone(longNames)
	for _, kind := range shortNames {
		all = append(all, kind)
	}
	for _, kind := range all {
		if word == strings.ToLower(kind) || word == object.Resource(kind).Resource {
			return kind, nil
		}
	}
	return "", &RefusalError{fmt.Sprintf("%.60q is no kind that berth keeps", word), "Such as pod, node, deployment or pdb."}
}

// RefsOf reads KIND NAME…, KIND/NAME… of a command line.
func (c *Cluster) RefsOf(args []string) (list []Ref, err error) {
	if len(args) == 0 {
		return nil, &RefusalError{"which objects?", "KIND NAME, such as pod web-1, or -f FILE."}
	}
	kind := ""
	if !strings.Contains(args[0], "/") {
		if kind, args = args[0], args[1:]; len(args) == 0 {
			return nil, &RefusalError{"which " + kind + "?", "KIND NAME, such as pod web-1."}
		}
	}
	for _, name := range args {
		word := kind
		if kind == "" {
			word, name, _ = strings.Cut(name, "/")
		}
		r := Ref{Name: name}
		if r.Kind, err = kindOf(word); err != nil {
			return nil, err
		}
		if at, rest, ok := strings.Cut(name, "/"); ok { // shop/web-1, as other commands have it
			r.Namespace, r.Name = at, rest
		}
		if r.Name == "" {
			return nil, &RefusalError{fmt.Sprintf("which %s?", word), "KIND NAME, such as pod web-1."}
		}
		list = append(list, c.placed(r))
	}
	return list, nil
}

// placed sets the namespace of an object that is in one.
func (c *Cluster) placed(r Ref) Ref {
	switch namespaced, known := object.Namespaced(r.Kind); {
	case known && !namespaced:
		r.Namespace = ""
	case r.Namespace == "":
		r.Namespace = c.Namespace
	}
	return r
}

// read reads the objects of a file, - for stdin: documents of YAML or JSON, and lists of them.
func (c *Cluster) read(file string) (list []manifest, err error) {
	in := c.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	for docs, n := yaml.NewYAMLOrJSONDecoder(in, 4096), 1; ; n++ {
		var raw json.RawMessage
		err := docs.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			list, err = c.taken(list, raw)
		}
		if err != nil {
			return nil, &RefusalError{fmt.Sprintf("%s: document %d: %v", file, n, err), "Expected objects in YAML or JSON, as kubectl apply takes them."}
		}
	}
	if len(list) == 0 {
		return nil, &RefusalError{file + " holds no object", "Expected objects in YAML or JSON, as kubectl apply takes them."}
	}
	return list, nil
}

// taken adds the objects of a document, which may be a list.
func (c *Cluster) taken(list []manifest, raw json.RawMessage) ([]manifest, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return list, nil // an empty document
	}
	var o struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
		Items    []json.RawMessage
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, errors.New("it is no object")
	}
	if strings.HasSuffix(o.Kind, "List") || o.Kind == "" && o.Items != nil {
		var err error
		for _, item := range o.Items {
			if list, err = c.taken(list, item); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	if o.Kind == "" || o.Metadata.Name == "" {
		return nil, errors.New("an object without kind or metadata.name")
	}
	r := c.placed(Ref{Kind: o.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name})
	if r.Namespace != o.Metadata.Namespace && r.Namespace != "" {
		var whole map[string]json.RawMessage
		var meta map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(raw, &whole), json.Unmarshal(whole["metadata"], &meta)); err != nil {
			return nil, err
		}
		meta["namespace"], _ = json.Marshal(r.Namespace) // a text
		whole["metadata"], _ = json.Marshal(meta)
		raw, _ = json.Marshal(whole)
	}
	return append(list, manifest{r, raw}), nil
}

// RefsIn reads which objects a file has.
func (c *Cluster) RefsIn(file string) (refs []Ref, err error) {
	list, err := c.read(file)
	for _, o := range list {
		refs = append(refs, o.Ref)
	}
	return refs, err
}
