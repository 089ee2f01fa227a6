package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"berth/internal/kube/object"
	"berth/internal/scenario"
)

// maxNotes is how many notes of one kind are printed; the others are counted.
const maxNotes = 10

// note says on stderr what a reader of the answer has to know about its input.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.Err, "%s: note: %s\n", a.name, clean(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")))
}

// other is an object that is neither a pod nor a node.
type other struct {
	kind string
	raw  json.RawMessage
}

// workload is what a pod was made from.
type workload struct {
	other
	name  string
	notes []string
}

// makePods makes a pod of each workload, for a file that has no pods of its own. Where replicas are
// counted, none is told that it is one of several.
func (in *input) makePods(counted bool) error {
	for _, o := range in.others {
		raw := o.raw
		podOf := object.PodOf
		if counted {
			_, raw = scenario.ReplicasIn(raw)
			podOf = object.ReplicaOf
		}
		made, err := podOf(raw, object.Limits{})
		if err != nil {
			return err
		}
		if made == nil {
			continue
		}
		if err := in.add("Pod", made.Pod); err != nil {
			return err
		}
		var head struct {
			Metadata struct{ Name string }
		}
		if err := json.Unmarshal(o.raw, &head); err != nil {
			return err
		}
		in.pods[len(in.pods)-1].from = &workload{o, head.Metadata.Name, made.Notes}
		in.claims = append(in.claims, made.Claims...)
	}
	return nil
}

// besides takes the objects of a file beside its pods that decisions read, such as
// the class that the pod names.
func (a *app) besides(in *input, file string) {
	for _, o := range in.others {
		if _, known := object.Namespaced(o.kind); !known || object.ReadLater(o.kind) {
			continue
		}
		obj, err := object.Decode(o.raw, object.Limits{})
		if err != nil {
			a.note("%s: a %s is left out: %v", nameOfFile(file), o.kind, err)
			continue
		}
		a.beside = append(a.beside, obj)
	}
	for _, raw := range in.claims {
		if obj, err := object.Decode(raw, object.Limits{}); err == nil { // else the cluster has to have it
			a.claims = append(a.claims, obj)
		}
	}
}

// tell prints which fields of a pod were ignored: fields that Kubernetes does not have,
// which are left out rather than refused, since kubectl prints what newer clusters
// have, and what one pod of a workload does not show.
func (a *app) tell(pod target, file string) {
	from := workload{other: other{"Pod", pod.whole}}
	if pod.from != nil {
		from = *pod.from
	}
	list, total := object.Unknown(from.raw, from.kind)
	for _, u := range list[:min(len(list), maxNotes)] {
		a.note("%s: %s: %s", nameOfFile(file), u.Path, u.Message())
	}
	if n := total - maxNotes; n > 0 {
		a.note("%s: %s", nameOfFile(file), plural(n, "more unknown field"))
	}
	for _, n := range from.notes {
		a.note("%s: %s: %s", nameOfFile(file), from.kind, n)
	}
}

// withBeside reads a cluster with the objects that came beside the pod. They stand
// in for those of the same name. Claims that a controller makes for the pod are added where the
// cluster does not have them yet.
func (a *app) withBeside(read object.Reader) object.Reader {
	if len(a.beside) == 0 && len(a.claims) == 0 {
		return read
	}
	return func(yield func(object.Object) error) (map[string]int, error) {
		own := make(map[object.Key]bool, len(a.beside))
		there := map[object.Key]bool{}
		for _, o := range a.beside {
			if own[o.Key] {
				continue
			}
			own[o.Key] = true
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		ignored, err := read(func(o object.Object) error {
			if own[o.Key] {
				return nil
			}
			if o.Kind == "PersistentVolumeClaim" {
				there[o.Key] = true
			}
			return yield(o)
		})
		for _, o := range a.claims {
			if err != nil || own[o.Key] || there[o.Key] {
				continue
			}
			err = yield(o)
		}
		return ignored, err
	}
}
