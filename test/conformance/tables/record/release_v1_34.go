//go:build v1_34

package record

import "k8s.io/kubernetes/pkg/scheduler/framework"

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
