package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// ScoresStorage reports whether VolumeBinding scores in this release, by default.
func ScoresStorage() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.StorageCapacityScoring)
}

// pools lists capacities by namespace and name: one of the orders in which upstream's lister, a Go
// map, may have them. The first with enough room is the one that is scored.
type pools struct {
	storagelisters.CSIStorageCapacityLister
}

func (p pools) List(which labels.Selector) ([]*storagev1.CSIStorageCapacity, error) {
	list, err := p.CSIStorageCapacityLister.List(which)
	slices.SortFunc(list, func(a, b *storagev1.CSIStorageCapacity) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list, err
}

// sortPools gives VolumeBinding's binder that lister.
func (cl *cluster) sortPools() error {
	pl, ok := cl.plugins[names.VolumeBinding]
	if !ok {
		return nil
	}
	binder := reflect.ValueOf(pl).Elem().FieldByName("Binder")
	if !binder.IsValid() {
		return fmt.Errorf("%T has no Binder", pl)
	}
	field := reflect.ValueOf(binder.Interface()).Elem().FieldByName("csiStorageCapacityLister")
	if !field.IsValid() {
		return fmt.Errorf("%T has no csiStorageCapacityLister", binder.Interface())
	}
	lister, ok := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Interface().(*storagelisters.CSIStorageCapacityLister)
	if !ok {
		return fmt.Errorf("csiStorageCapacityLister is a %s", field.Type())
	}
	*lister = pools{*lister}
	return nil
}

// errPanics is the error of a plugin that panicked, which ends kube-scheduler.
var errPanics = errors.New("panics")

// scoreOf asks a plugin for one score.
func scoreOf(ctx context.Context, p scorePlugin, state fwk.CycleState, pod *v1.Pod, n fwk.NodeInfo) (score int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s %w: %v", p.Name(), errPanics, r)
		}
	}()
	score, s := p.Score(ctx, state, pod, n)
	if !s.IsSuccess() {
		err = fmt.Errorf("score %s: %w", p.Name(), s.AsError())
	}
	return score, err
}
