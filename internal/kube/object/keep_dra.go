package object

// What is kept of the kinds of dynamic resource allocation: what
// DynamicResources reads. Drivers' own parameters (config, data) are not.

var deviceSelectors = keep{"cel": {"expression": all}}

var deviceTolerations = tolerations

// deviceRequest holds what a request and one of its alternatives share.
func deviceRequest(more ...string) keep {
	k := keep{
		"deviceClassName": all, "selectors": deviceSelectors, "allocationMode": all, "count": all,
		"tolerations": deviceTolerations, "capacity": {"requests": all},
		"derivedAttributes": {"name": all, "expression": all}, // read by releases after v1.36
	}
	for _, f := range more {
		k[f] = all
	}
	return k
}

var deviceClaimSpec = keep{"devices": {
	"requests": {
		"name": all, "exactly": deviceRequest("adminAccess"), "firstAvailable": deviceRequest("name"),
	},
	"constraints": {"requests": all, "matchAttribute": all, "distinctAttribute": all},
}}

var keepResourceClaim = object(deviceClaimSpec, keep{
	"allocation": {
		"devices": {"results": {
			"request": all, "driver": all, "pool": all, "device": all, "adminAccess": all, "shareID": all,
			"tolerations": deviceTolerations, "bindingConditions": all, "bindingFailureConditions": all,
			"consumedCapacity":   all,
			"skipNodeOperations": all, // read by releases after v1.36
		}},
		"nodeSelector": nodeSelector, "allocationTimestamp": all,
	},
	"reservedFor": {"apiGroup": all, "resource": all, "name": all, "uid": all},
	"devices": {
		"driver": all, "pool": all, "device": all, "shareID": all,
		"conditions": {"type": all, "status": all, "reason": all, "lastTransitionTime": all},
	},
}, "resource.kubernetes.io/extended-resource-claim")

var keepClaimTemplate = object(keep{"metadata": {"labels": all}, "spec": deviceClaimSpec}, nil)

var keepResourceSlice = object(keep{
	"driver": all, "pool": {"name": all, "generation": all, "resourceSliceCount": all},
	"nodeName": all, "nodeSelector": nodeSelector, "allNodes": all, "perDeviceNodeSelection": all,
	"sharedCounters": {"name": all, "counters": all},
	// read by releases after v1.36
	"skipNodeOperations": all, "partitionTypeAttribute": all,
	"devices": {
		"name": all, "attributes": all, "capacity": all,
		"consumesCounters": {"counterSet": all, "counters": all, "compatibilityGroups": all},
		"nodeName":         all, "nodeSelector": nodeSelector, "allNodes": all,
		"taints":      {"key": all, "value": all, "effect": all, "timeAdded": all},
		"bindsToNode": all, "bindingConditions": all, "bindingFailureConditions": all,
		"allowMultipleAllocations": all,
		// read by releases after v1.36
		"nodeAllocatableResources": all,
	},
}, nil)

var keepDeviceClass = object(keep{"selectors": deviceSelectors, "extendedResourceName": all}, nil)
