//go:build v1_34

package record

import (
	"reflect"
	"unsafe"

	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// The types of the scheduler's framework that are recorded.
type (
	anyPlugin        = framework.Plugin
	handle           = framework.Handle
	sharedLister     = framework.SharedLister
	sharedDRAManager = framework.SharedDRAManager
	nodeScoreList    = framework.NodeScoreList
	preFilterResult  = framework.PreFilterResult
	postFilterResult = framework.PostFilterResult
)

// assumed returns the objects of a cache that VolumeBinding keeps volumes and claims in, and
// whether o is one. In later releases their store is reached as any other.
func assumed(o any) (objects []any, is bool) {
	c, ok := o.(*assumecache.AssumeCache)
	if !ok || c == nil {
		return nil, false
	}
	field := reflect.ValueOf(c).Elem().FieldByName("store")
	store := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(cache.Indexer)
	for _, key := range store.ListKeys() {
		if obj, err := c.Get(key); err == nil {
			objects = append(objects, obj)
		}
	}
	return objects, true
}
