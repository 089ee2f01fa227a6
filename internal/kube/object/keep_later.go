package object

// What is kept of the kinds that only releases after v1.36 read, so that history is
// complete when decisions are judged under those. No decision of v1.36 at its
// defaults reads them.

var podGroupPolicy = keep{"basic": presence, "gang": {"minCount": all}}

// podGroup holds what a group and its template share.
func podGroup(more string, of keep) keep {
	return keep{
		"schedulingPolicy":      podGroupPolicy,
		"schedulingConstraints": {"topology": {"key": all}},
		"resourceClaims":        {"name": all, "resourceClaimName": all, "resourceClaimTemplateName": all},
		"disruptionMode":        all, "priorityClassName": all, "priority": all,
		more: of,
	}
}

var keepWorkload = object(keep{
	"controllerRef":     {"apiGroup": all, "kind": all, "name": all},
	"podGroupTemplates": podGroup("name", all),
}, nil)

var keepPodGroup = object(
	podGroup("podGroupTemplateRef", keep{"workload": {"workloadName": all, "podGroupTemplateName": all}}),
	keep{
		"conditions":            statusConditions,
		"resourceClaimStatuses": {"name": all, "resourceClaimName": all},
	})

var keepDeviceTaintRule = object(keep{
	"deviceSelector": {"driver": all, "pool": all, "device": all},
	"taint":          {"key": all, "value": all, "effect": all, "timeAdded": all},
}, nil)
