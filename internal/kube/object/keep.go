package object

import "maps"

// The allow-list: what is kept of each kind. Whatever isn't named here is
// passed over as bytes, never decoded and never stored. A field belongs here
// only if a decision reads it: the scheduler's plugins, preemption and queue,
// or the rules of a pod's life; or if one of a later release will, since history
// has what was kept when it was written (docs/reliability.md has the list).

// metadata is kept of every kind; annotations only where named.
func metadata(annotations ...string) keep {
	k := keep{
		"name": all, "namespace": all, "uid": all, "labels": all,
		"creationTimestamp": all, "deletionTimestamp": all, "deletionGracePeriodSeconds": all,
		"finalizers":      all,
		"ownerReferences": {"apiVersion": all, "kind": all, "name": all, "uid": all, "controller": all},
	}
	if len(annotations) > 0 {
		k["annotations"] = named(annotations...)
	}
	return k
}

// named keeps the members of these names, whole.
func named(names ...string) keep {
	k := make(keep, len(names))
	for _, name := range names {
		k[name] = all
	}
	return k
}

// object is a kind with metadata, and a spec and a status where they are read.
func object(spec, status keep, annotations ...string) keep {
	k := keep{"apiVersion": all, "kind": all, "metadata": metadata(annotations...)}
	if len(spec) > 0 {
		k["spec"] = spec
	}
	if len(status) > 0 {
		k["status"] = status
	}
	return k
}

var labelSelector = keep{
	"matchLabels":      all,
	"matchExpressions": {"key": all, "operator": all, "values": all},
}

var nodeSelectorTerm = keep{
	"matchExpressions": {"key": all, "operator": all, "values": all},
	"matchFields":      {"key": all, "operator": all, "values": all},
}

var nodeSelector = keep{"nodeSelectorTerms": nodeSelectorTerm}

var keepNode = object(
	keep{
		"taints":              {"key": all, "value": all, "effect": all, "timeAdded": all},
		"unschedulable":       all,
		"podPreemptionPolicy": {"disableResizePreemption": all}, // read by releases after v1.36
	},
	keep{
		"capacity": all, "allocatable": all,
		"conditions":       {"type": all, "status": all, "lastTransitionTime": all},
		"images":           {"names": all, "sizeBytes": all},
		"declaredFeatures": all,
		"nodeInfo":         {"kubeletVersion": all},
	})

var keepNamespace = object(nil, nil)

var keepService = object(keep{"selector": all}, nil)

var keepPriorityClass = keep{
	"apiVersion": all, "kind": all, "metadata": metadata(),
	"value": all, "globalDefault": all, "preemptionPolicy": all,
}

var keepPDB = object(
	keep{"selector": labelSelector, "minAvailable": all, "maxUnavailable": all, "unhealthyPodEvictionPolicy": all},
	keep{"disruptedPods": all, "disruptionsAllowed": all, "currentHealthy": all, "desiredHealthy": all, "expectedPods": all})

// What is kept of the kinds that only releases after v1.36 read, so that history is
// complete when decisions are judged under those. No decision of v1.36 at its
// defaults reads them.

var podGroupPolicy = keep{"basic": presence, "gang": {"minCount": all}}

// podGroup holds what a group and its template share, and what they do not.
func podGroup(more keep) keep {
	k := keep{
		"schedulingPolicy":      podGroupPolicy,
		"schedulingConstraints": {"topology": {"key": all}},
		"resourceClaims":        {"name": all, "resourceClaimName": all, "resourceClaimTemplateName": all},
		"disruptionMode":        all, "priorityClassName": all, "priority": all,
	}
	maps.Copy(k, more)
	return k
}

func groups(templates keep) keep {
	return object(keep{
		"controllerRef":     {"apiGroup": all, "kind": all, "name": all},
		"podGroupTemplates": templates,
	}, nil)
}

var podGroupStatus = keep{
	"conditions":            statusConditions,
	"resourceClaimStatuses": {"name": all, "resourceClaimName": all},
}

var (
	keepWorkload = groups(podGroup(keep{"name": all, "preemptionPolicy": all}))
	keepPodGroup = object(podGroup(keep{
		"workloadRef": {"workloadName": all, "templateName": all}, "preemptionPolicy": all,
	}), podGroupStatus)

	keepOldWorkload = groups(podGroup(keep{"name": all}))
	keepOldPodGroup = object(podGroup(keep{
		"podGroupTemplateRef": {"workload": {"workloadName": all, "podGroupTemplateName": all}},
	}), podGroupStatus)
)

var keepDeviceTaintRule = object(keep{
	"deviceSelector": {"driver": all, "pool": all, "device": all},
	"taint":          {"key": all, "value": all, "effect": all, "timeAdded": all},
}, nil)
