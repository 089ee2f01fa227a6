package rules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	csitranslation "k8s.io/csi-translation-lib"
	csiplugins "k8s.io/csi-translation-lib/plugins"
	"k8s.io/klog/v2"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// migrating are the in-tree volume kinds that a CSI driver serves where the node declares it
// (plugins/volumebinding/binder.go isCSIMigrationOnForPlugin).
var migrating = []string{
	csiplugins.AWSEBSInTreePluginName, csiplugins.GCEPDInTreePluginName, csiplugins.AzureDiskInTreePluginName,
	csiplugins.CinderInTreePluginName, csiplugins.PortworxVolumePluginName,
}

// migrated returns the rows of in on which a CSI driver serves the volume in place of its in-tree
// plugin; nil without any.
func migrated(q *engine.Query, pv *corev1.PersistentVolume, in state.Bits) state.Bits {
	s := &pv.Spec.PersistentVolumeSource
	if s.AWSElasticBlockStore == nil && s.GCEPersistentDisk == nil && s.AzureDisk == nil && s.Cinder == nil && s.PortworxVolume == nil {
		return nil
	}
	kind, err := csitranslation.New().GetInTreePluginNameFromSpec(pv, nil)
	if err != nil || !slices.Contains(migrating, kind) {
		return nil
	}
	var out state.Bits
	for row := range in.All() {
		n := q.State.CSINode(q.Nodes.Node(row).Name)
		if n == nil || !slices.Contains(strings.Split(n.Annotations[corev1.MigratedPluginsAnnotationKey], ","), kind) {
			continue
		}
		if out == nil {
			out = q.Bits()
		}
		out.Set(row)
	}
	return out
}

// translated returns the volume as its CSI driver sees it: the zone of its affinity or labels has
// the driver's own key.
func translated(pv *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	as, err := csitranslation.New().TranslateInTreePVToCSI(klog.Logger{}, pv)
	if err != nil {
		return nil, fmt.Errorf("could not translate pv: %w", err)
	}
	return as, nil
}
