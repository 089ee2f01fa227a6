package object

// What is kept of a Pod. No env, command, args, mounts, security contexts,
// probe handlers' content, secret names, host or pod addresses, termination
// messages (a program writes those).

var requirements = keep{
	"requests": all, "limits": all,
	"claims": {"name": all, "request": all},
}

// keepHandler reports that a hook or a probe is there and of which sort.
func keepHandler() keep {
	return keep{"exec": presence, "httpGet": presence, "tcpSocket": presence}
}

func probe() keep {
	k := keepHandler()
	k["grpc"] = presence
	for _, f := range []string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold", "terminationGracePeriodSeconds"} {
		k[f] = all
	}
	return k
}

func hook() keep {
	k := keepHandler()
	k["sleep"] = keep{"seconds": all}
	return k
}

var container = keep{
	"name": all, "image": all, "resources": requirements,
	"ports":         {"containerPort": all, "hostPort": all, "hostIP": all, "protocol": all},
	"restartPolicy": all,
	"restartPolicyRules": {
		"action": all, "exitCodes": {"operator": all, "values": all},
	},
	"startupProbe": probe(), "livenessProbe": probe(), "readinessProbe": probe(),
	"lifecycle":       {"preStop": hook(), "postStart": hook(), "stopSignal": all},
	"imagePullPolicy": all,
}

var podAffinityTerm = keep{
	"labelSelector": labelSelector, "namespaceSelector": labelSelector, "namespaces": all,
	"topologyKey": all, "matchLabelKeys": all, "mismatchLabelKeys": all,
}

var podAffinity = keep{
	"requiredDuringSchedulingIgnoredDuringExecution": podAffinityTerm,
	"preferredDuringSchedulingIgnoredDuringExecution": {
		"weight": all, "podAffinityTerm": podAffinityTerm,
	},
}

var affinity = keep{
	"nodeAffinity": {
		"requiredDuringSchedulingIgnoredDuringExecution": nodeSelector,
		"preferredDuringSchedulingIgnoredDuringExecution": {
			"weight": all, "preference": nodeSelectorTerm,
		},
	},
	"podAffinity": podAffinity, "podAntiAffinity": podAffinity,
}

// podVolume is what VolumeRestrictions, NodeVolumeLimits, VolumeBinding,
// ImageLocality and drains read of a volume.
var podVolume = keep{
	"name":                  all,
	"emptyDir":              {"medium": all, "sizeLimit": all},
	"persistentVolumeClaim": {"claimName": all, "readOnly": all},
	"ephemeral":             {"volumeClaimTemplate": {"metadata": {"labels": all}, "spec": claimSpec}},
	"gcePersistentDisk":     {"pdName": all, "readOnly": all},
	"awsElasticBlockStore":  {"volumeID": all, "readOnly": all},
	"iscsi":                 {"iqn": all, "lun": all, "targetPortal": all, "readOnly": all},
	"rbd":                   {"monitors": all, "image": all, "pool": all, "readOnly": all},
	"azureDisk":             {"diskName": all, "diskURI": all, "kind": all},
	"cinder":                {"volumeID": all},
	"vsphereVolume":         {"volumePath": all},
	"portworxVolume":        {"volumeID": all},
	"csi":                   {"driver": all},
	"image":                 {"reference": all},
}

var tolerations = keep{"key": all, "operator": all, "value": all, "effect": all, "tolerationSeconds": all}

var podSpec = keep{
	"containers": container, "initContainers": container,
	"ephemeralContainers": {"name": all, "image": all},
	"volumes":             podVolume,
	"nodeName":            all, "nodeSelector": all, "affinity": affinity,
	"tolerations": tolerations,
	"topologySpreadConstraints": {
		"maxSkew": all, "topologyKey": all, "whenUnsatisfiable": all, "labelSelector": labelSelector,
		"minDomains": all, "nodeAffinityPolicy": all, "nodeTaintsPolicy": all, "matchLabelKeys": all,
	},
	"schedulerName": all, "schedulingGates": {"name": all}, "readinessGates": {"conditionType": all},
	"priority": all, "priorityClassName": all, "preemptionPolicy": all,
	"restartPolicy": all, "terminationGracePeriodSeconds": all, "activeDeadlineSeconds": all,
	"overhead": all, "runtimeClassName": all, "resources": requirements,
	"resourceClaims": {"name": all, "resourceClaimName": all, "resourceClaimTemplateName": all},
	"hostNetwork":    all, "hostPID": all, "hostUsers": all,
	"schedulingGroup": {"podGroupName": all}, // read by releases after v1.36
}

var containerState = keep{
	"waiting": {"reason": all},
	"running": {"startedAt": all},
	"terminated": {
		"exitCode": all, "signal": all, "reason": all, "startedAt": all, "finishedAt": all,
	},
}

var containerStatus = keep{
	"name": all, "state": containerState, "lastState": containerState,
	"ready": all, "started": all, "restartCount": all,
	"allocatedResources": all, "resources": requirements,
}

var podStatus = keep{
	"phase": all, "reason": all, "startTime": all, "nominatedNodeName": all,
	"observedGeneration": all, "resize": all, "resources": requirements, "allocatedResources": all,
	"conditions": {
		"type": all, "status": all, "reason": all, "message": all,
		"lastTransitionTime": all, "observedGeneration": all,
	},
	"containerStatuses": containerStatus, "initContainerStatuses": containerStatus,
	"ephemeralContainerStatuses": containerStatus,
	"resourceClaimStatuses":      {"name": all, "resourceClaimName": all},
	"nodeAllocatableResourceClaimStatuses": { // read by releases after v1.36
		"resourceClaimName": all, "containers": all, "mapping": all, "overhead": all,
	},
	"extendedResourceClaimStatus": {
		"resourceClaimName": all,
		"requestMappings":   {"containerName": all, "resourceName": all, "requestName": all},
	},
}

// podAnnotations are those of static pods, of scale-down, of the pods of indexed jobs, and of the
// order of creation in a ledger.
var podAnnotations = []string{
	"kubernetes.io/config.mirror", "kubernetes.io/config.source", "controller.kubernetes.io/pod-deletion-cost",
	"batch.kubernetes.io/job-completion-index", "batch.kubernetes.io/job-index-failure-count",
	"batch.kubernetes.io/job-index-ignored-failure-count", createdIn,
}

var keepPod = object(podSpec, podStatus, podAnnotations...)
