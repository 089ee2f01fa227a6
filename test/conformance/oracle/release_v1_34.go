//go:build v1_34

// The rest is as in v1.35.

package oracle

import (
	"fmt"
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

type (
	plugin          = framework.Plugin
	preFilterPlugin = framework.PreFilterPlugin
	filterPlugin    = framework.FilterPlugin
	scorePlugin     = framework.ScorePlugin
	reservePlugin   = framework.ReservePlugin
	claimTracker    = framework.ResourceClaimTracker
)

func classResolver(framework.Framework) any { return nil }

// announceVolume adds an object to one of the binder's caches, which hear of objects by events. The
// caches embed one by pointer.
func (cl *cluster) announceVolume(obj runtime.Object, name string) error {
	binding, ok := cl.plugins[names.VolumeBinding].(*volumebinding.VolumeBinding)
	if !ok {
		return nil // the profile is without it
	}
	field := reflect.ValueOf(binding.Binder).Elem().FieldByName(name)
	if !field.IsValid() {
		return fmt.Errorf("%T has no %s", binding.Binder, name)
	}
	typed := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	embedded, ok := typed.Elem().FieldByName("AssumeCache").Interface().(*assumecache.AssumeCache)
	if !ok {
		return fmt.Errorf("%s is a %s", name, field.Type())
	}
	assumecache.AddTestObject(embedded, obj)
	return nil
}
