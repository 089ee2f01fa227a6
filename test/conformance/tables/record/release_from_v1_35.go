//go:build !v1_34

package record

import fwk "k8s.io/kube-scheduler/framework"

// The types of the scheduler's framework that are recorded, which went to a package that others may
// import.
type (
	anyPlugin        = fwk.Plugin
	handle           = fwk.Handle
	sharedLister     = fwk.SharedLister
	sharedDRAManager = fwk.SharedDRAManager
	nodeScoreList    = fwk.NodeScoreList
	preFilterResult  = fwk.PreFilterResult
	postFilterResult = fwk.PostFilterResult
)

// assumed returns the objects of a cache whose store is not reached as any other; there is none.
func assumed(any) (objects []any, is bool) { return nil, false }
