//go:build !v1_34

package oracle

import (
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The interfaces of plugins, which went to a package that others may import.
type (
	plugin          = fwk.Plugin
	preFilterPlugin = fwk.PreFilterPlugin
	filterPlugin    = fwk.FilterPlugin
	scorePlugin     = fwk.ScorePlugin
	reservePlugin   = fwk.ReservePlugin
	claimTracker    = fwk.ResourceClaimTracker
)

// classResolver maps extended resources to device classes; nil where a release has no such mapping.
func classResolver(f framework.Framework) any { return f.SharedDRAManager().DeviceClassResolver() }

// announceVolume tells VolumeBinding of a volume or claim that it does not find in a store.
func (cl *cluster) announceVolume(runtime.Object, string) error { return nil }
