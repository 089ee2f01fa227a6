package oracle

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Alone gives, by node, what each filter plugin of kube-scheduler returns when it is
// the only one that the framework has: its own PreFilter, then its Filter with and
// without the nominated pods. A plugin that returns an error has code Error.
func Alone(ctx context.Context, c *Case) (map[string][]Failure, error) {
	o, err := decode(c.Objects)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cl, err := newCluster(ctx, c, o)
	if err != nil {
		return nil, err
	}
	defer cl.sched.SchedulingQueue.Close()
	nodes, err := cl.snapshot.List()
	if err != nil {
		return nil, err
	}
	pre, err := pluginField[preFilterPlugin](cl.framework, "preFilterPlugins")
	if err != nil {
		return nil, err
	}
	filters, err := pluginField[filterPlugin](cl.framework, "filterPlugins")
	if err != nil {
		return nil, err
	}
	allPre, allFilters := slices.Clone(*pre), slices.Clone(*filters)
	defer func() { *pre, *filters = allPre, allFilters }()
	names := map[string]bool{}
	var order []string
	for _, p := range allPre {
		if !names[p.Name()] && !slices.ContainsFunc(allFilters, func(f filterPlugin) bool { return f.Name() == p.Name() }) {
			order, names[p.Name()] = append(order, p.Name()), true
		}
	}
	for _, p := range allFilters {
		order = append(order, p.Name())
	}
	out := map[string][]Failure{}
	for _, name := range order {
		*pre = slices.DeleteFunc(slices.Clone(allPre), func(p preFilterPlugin) bool { return p.Name() != name })
		*filters = slices.DeleteFunc(slices.Clone(allFilters), func(p filterPlugin) bool { return p.Name() != name })
		state := framework.NewCycleState()
		_, whole, _ := cl.framework.RunPreFilterPlugins(ctx, state, cl.pod)
		for _, n := range nodes {
			s := whole
			if s.IsSuccess() {
				s = cl.framework.RunFilterPluginsWithNominatedPods(ctx, state, cl.pod, n)
			}
			if !s.IsSuccess() {
				f := Failure{Plugin: name, Code: s.Code().String(), Reasons: slices.Sorted(slices.Values(s.Reasons()))}
				out[n.Node().Name] = append(out[n.Node().Name], f)
			}
		}
	}
	return out, nil
}

// pluginField points to one of the framework's lists of plugins, which are
// unexported, like pluginsMap above.
func pluginField[T any](f framework.Framework, name string) (*[]T, error) {
	field := reflect.ValueOf(f).Elem().FieldByName(name)
	if !field.IsValid() {
		return nil, fmt.Errorf("%T has no %s", f, name)
	}
	list, ok := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Interface().(*[]T)
	if !ok {
		return nil, fmt.Errorf("%s is a %s", name, field.Type())
	}
	return list, nil
}
