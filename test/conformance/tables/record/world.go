package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

// defaults are upstream's feature gates before any test has touched them.
var defaults = reflect.ValueOf(feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))

// differing names the gates that are not at their defaults.
func differing(v reflect.Value) []string {
	var out []string
	for i := range v.NumField() {
		if d := defaults.FieldByName(v.Type().Field(i).Name); d.IsValid() && d.Bool() != v.Field(i).Bool() {
			out = append(out, fmt.Sprintf("%s=%v", v.Type().Field(i).Name, v.Field(i).Bool()))
		}
	}
	return out
}

// encodeArgs writes internal arguments as a configuration would.
func encodeArgs(args runtime.Object) (json.RawMessage, error) {
	return runtime.Encode(scheme.Codecs.LegacyCodec(configv1.SchemeGroupVersion), args)
}

// world is what a plugin can see when it is called: the nodes and pods of its
// snapshot and the objects that its listers give.
type world struct {
	keys    []string
	objects map[string]runtime.Object
	seen    map[unsafe.Pointer]bool
	profile map[string][]string // the framework's plugins by extension point
	lost    []string
}

func newWorld() *world {
	return &world{objects: map[string]runtime.Object{}, seen: map[unsafe.Pointer]bool{}}
}

// add keeps an object; the first of a name stands.
func (w *world) add(obj runtime.Object) { w.put(obj, false) }

func (w *world) put(obj runtime.Object, over bool) {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return
	}
	key := v.Type().String()
	if o, ok := obj.(interface {
		GetNamespace() string
		GetName() string
	}); ok {
		key += " " + o.GetNamespace() + "/" + o.GetName()
		if o.GetName() == "" { // several may have none
			key += fmt.Sprintf("%p", obj)
		}
	}
	if _, have := w.objects[key]; have && !over {
		return
	} else if !have {
		w.keys = append(w.keys, key)
	}
	w.objects[key] = obj
}

// node keeps a node and the pods that are on it, over what the snapshot says.
func (w *world) node(n fwk.NodeInfo) {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return
	}
	if n.Node() != nil {
		w.put(n.Node(), true)
	}
	name := ""
	if n.Node() != nil {
		name = n.Node().Name
	}
	// What the node holds now replaces what it held.
	w.keys = slices.DeleteFunc(w.keys, func(k string) bool {
		gone := strings.HasPrefix(k, "pod on "+name+"\x00")
		if gone {
			delete(w.objects, k)
		}
		return gone
	})
	for i, p := range n.GetPods() {
		w.pod(p.GetPod(), name, i)
	}
}

// pod keeps a pod where it is: a pod in a node's list is on that node, whatever
// its own spec says. Tests give several pods one name.
func (w *world) pod(p *v1.Pod, node string, i int) {
	if p.Spec.NodeName != node {
		p = p.DeepCopy()
		p.Spec.NodeName = node
	}
	key := fmt.Sprintf("pod on %s\x00%d", node, i)
	w.keys = append(w.keys, key)
	w.objects[key] = p
}

// missing is node for one that may be in the world already, and counts only if
// it isn't.
func (w *world) missing(n fwk.NodeInfo) {
	if _, have := w.objects[fmt.Sprintf("*v1.Node /%s", n.Node().Name)]; !have {
		w.node(n)
	}
}

// list encodes everything.
func (w *world) list() []json.RawMessage {
	var out []json.RawMessage
	for _, k := range w.keys {
		obj := w.objects[k]
		if raw := w.encode(obj); raw != nil {
			out = append(out, raw)
		}
	}
	return out
}

// encode writes an object with its version and kind.
func (w *world) encode(obj runtime.Object) json.RawMessage {
	kinds, _, err := clientscheme.Scheme.ObjectKinds(obj)
	if err != nil || len(kinds) == 0 {
		w.lost = append(w.lost, fmt.Sprintf("%T: %v", obj, err))
		return nil
	}
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(kinds[0])
	raw, err := json.Marshal(obj)
	if err != nil {
		w.lost = append(w.lost, err.Error())
		return nil
	}
	return raw
}

// reach follows a plugin's fields to snapshots, listers and informers.
func (w *world) reach(v reflect.Value, depth int) {
	defer func() {
		if r := recover(); r != nil { // a lister that a test left empty
			w.lost = append(w.lost, fmt.Sprint(r))
		}
	}()
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer {
			if w.seen[v.UnsafePointer()] {
				return
			}
			w.seen[v.UnsafePointer()] = true
		}
		if v.CanInterface() && depth > 0 && w.known(v.Interface()) {
			return
		}
		v = v.Elem()
	}
	if v.CanInterface() && depth > 0 && w.known(v.Interface()) {
		return
	}
	if v.Kind() != reflect.Struct || depth > 3 || !ours(v.Type()) {
		return
	}
	if !v.CanAddr() {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	for i := range v.NumField() {
		f := v.Field(i)
		w.reach(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem(), depth+1)
	}
}

// ours reports whether a struct is part of a plugin and not of a library.
func ours(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "berth/") || strings.Contains(t.PkgPath(), "scheduler/framework/plugins")
}

// known takes the objects out of what is recognised.
func (w *world) known(o any) bool {
	switch o := o.(type) {
	case handle:
		if s := o.SnapshotSharedLister(); s != nil && !reflect.ValueOf(s).IsNil() {
			w.shared(s)
		}
		if f := o.SharedInformerFactory(); f != nil {
			w.informers(f)
		}
		if m := o.SharedDRAManager(); m != nil {
			w.devices(m)
		}
		if f, ok := o.(interface{ ListPlugins() *config.Plugins }); ok {
			w.framework(f.ListPlugins())
		}
		return true
	case sharedDRAManager:
		w.devices(o)
		return true
	case sharedLister:
		w.shared(o)
		return true
	case cache.Indexer:
		w.all(o.List())
		return true
	case informers.SharedInformerFactory:
		w.informers(o)
		return true
	}
	if list, is := assumed(o); is {
		w.all(list)
		return true
	}
	return w.lister(reflect.ValueOf(o))
}

func (w *world) shared(s sharedLister) {
	list, err := s.NodeInfos().List()
	if err != nil {
		w.lost = append(w.lost, err.Error())
	}
	for _, n := range list {
		w.node(n)
	}
}

func (w *world) all(list []any) {
	for _, o := range list {
		if obj, ok := o.(runtime.Object); ok {
			w.put(obj, false)
		}
	}
}

// lister takes what a lister of client-go gives, or what a test's stand-in for
// one holds: a list of objects, or a single one.
func (w *world) lister(v reflect.Value) bool {
	t := v.Type()
	item, slice := t, false
	if t.Kind() == reflect.Slice {
		item, slice = t.Elem(), true
	}
	if slice && item.Kind() == reflect.Struct {
		for i := range v.Len() {
			c := reflect.New(item)
			c.Elem().Set(v.Index(i))
			if obj, ok := c.Interface().(runtime.Object); ok {
				w.put(obj, false)
			}
		}
		return true
	}
	if t.Kind() == reflect.Struct && strings.HasSuffix(t.Name(), "Lister") && t.NumField() > 0 {
		for _, gvk := range []string{"CSINode"} {
			if k := clientscheme.Scheme.AllKnownTypes(); strings.HasPrefix(t.Name(), gvk) {
				for id, typ := range k {
					if id.Kind == gvk && id.Version == "v1" && t.ConvertibleTo(typ) {
						c := reflect.New(typ)
						c.Elem().Set(v.Convert(typ))
						if obj, ok := c.Interface().(runtime.Object); ok {
							w.put(obj, false)
						}
						return true
					}
				}
			}
		}
	}
	m := v.MethodByName("List")
	if !m.IsValid() || m.Type().NumIn() != 1 || m.Type().NumOut() != 2 || m.Type().In(0) != reflect.TypeFor[labels.Selector]() {
		return false
	}
	out := m.Call([]reflect.Value{reflect.ValueOf(labels.Everything())})
	if !out[1].IsNil() || out[0].Kind() != reflect.Slice {
		return false
	}
	for i := range out[0].Len() {
		if obj, ok := out[0].Index(i).Interface().(runtime.Object); ok {
			w.put(obj, false)
		}
	}
	return true
}

func (w *world) devices(m sharedDRAManager) {
	if v := reflect.ValueOf(m); v.Kind() == reflect.Pointer && v.IsNil() {
		return
	}
	if list, err := m.ResourceClaims().List(); err == nil {
		for _, o := range list {
			w.put(o, false)
		}
	}
	if list, err := m.ResourceSlices().ListWithDeviceTaintRules(); err == nil {
		for _, o := range list {
			w.put(o, false)
		}
	}
	if list, err := m.DeviceClasses().List(); err == nil {
		for _, o := range list {
			w.put(o, false)
		}
	}
}

func (w *world) framework(p *config.Plugins) {
	w.profile = map[string][]string{}
	for point, set := range map[string]config.PluginSet{"preFilter": p.PreFilter, "filter": p.Filter, "preScore": p.PreScore, "score": p.Score} {
		for _, e := range set.Enabled {
			w.profile[point] = append(w.profile[point], e.Name)
		}
	}
}

// informers reads the stores of the kinds that plugins read.
func (w *world) informers(f informers.SharedInformerFactory) {
	if v := reflect.ValueOf(f); v.Kind() == reflect.Pointer && v.IsNil() {
		return
	}
	core, apps, storage := f.Core().V1(), f.Apps().V1(), f.Storage().V1()
	for _, i := range []cache.SharedIndexInformer{
		core.Namespaces().Informer(), core.Services().Informer(), core.ReplicationControllers().Informer(), apps.ReplicaSets().Informer(), apps.StatefulSets().Informer(),
		core.PersistentVolumes().Informer(), core.PersistentVolumeClaims().Informer(), storage.StorageClasses().Informer(), storage.CSINodes().Informer(),
		storage.CSIDrivers().Informer(), storage.CSIStorageCapacities().Informer(), storage.VolumeAttachments().Informer(), f.Policy().V1().PodDisruptionBudgets().Informer(),
	} {
		w.all(i.GetStore().List())
	}
}
