package object

// What is kept of workloads: what their controllers do with pods (pkg/controller: replicaset,
// deployment, statefulset, daemon, job, cronjob). Scheduling itself reads selectors alone. What a
// controller counts anew from the pods at its first sync, such as readyReplicas, is not kept: it
// would make a revision of a followed cluster with each pod that becomes ready.

// podTemplate is a template, pruned as the pods that are made of it.
var podTemplate = keep{"metadata": {"labels": all, "annotations": named(podAnnotations...)}, "spec": podSpec}

var statusConditions = keep{"type": all, "status": all, "reason": all, "lastTransitionTime": all}

// workloadSpec is what the specs of all workloads with replicas have in common.
func workloadSpec(selector, more keep) keep {
	k := keep{"replicas": all, "selector": selector, "template": podTemplate, "minReadySeconds": all}
	for field, of := range more {
		k[field] = of
	}
	return k
}

// A selector of a ReplicationController is a map of labels.
var keepController = object(workloadSpec(all, nil), nil)

var keepReplicaSet = object(workloadSpec(labelSelector, nil), nil,
	"deployment.kubernetes.io/revision", "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas")

var keepDeployment = object(workloadSpec(labelSelector, keep{
	"strategy": {"type": all, "rollingUpdate": {"maxUnavailable": all, "maxSurge": all}},
	"paused":   all, "progressDeadlineSeconds": all,
}), keep{"conditions": {
	"type": all, "status": all, "reason": all, "lastTransitionTime": all, "lastUpdateTime": all,
}}, "deployment.kubernetes.io/revision")

var keepStatefulSet = object(workloadSpec(labelSelector, keep{
	"podManagementPolicy":                  all,
	"updateStrategy":                       {"type": all, "rollingUpdate": {"partition": all, "maxUnavailable": all}},
	"persistentVolumeClaimRetentionPolicy": {"whenDeleted": all, "whenScaled": all},
	"ordinals":                             {"start": all},
	"volumeClaimTemplates":                 {"metadata": {"name": all, "labels": all}, "spec": claimSpec},
}), keep{"currentRevision": all, "updateRevision": all})

var keepDaemonSet = object(keep{
	"selector": labelSelector, "template": podTemplate, "minReadySeconds": all,
	"updateStrategy": {"type": all, "rollingUpdate": {"maxUnavailable": all, "maxSurge": all}},
}, nil, "deprecated.daemonset.template.generation")

var jobSpec = keep{
	"parallelism": all, "completions": all, "completionMode": all, "suspend": all,
	"activeDeadlineSeconds": all, "ttlSecondsAfterFinished": all, "podReplacementPolicy": all,
	"backoffLimit": all, "backoffLimitPerIndex": all, "maxFailedIndexes": all,
	"selector": labelSelector, "manualSelector": all, "managedBy": all, "template": podTemplate,
	"podFailurePolicy": {"rules": {
		"action":          all,
		"onExitCodes":     {"containerName": all, "operator": all, "values": all},
		"onPodConditions": {"type": all, "status": all},
	}},
	"successPolicy": {"rules": {"succeededIndexes": all, "succeededCount": all}},
}

var keepJob = object(jobSpec, keep{
	"conditions": statusConditions, "startTime": all, "completionTime": all,
	"succeeded": all, "failed": all, "completedIndexes": all, "failedIndexes": all,
	"uncountedTerminatedPods": {"succeeded": all, "failed": all},
})

var keepCronJob = object(keep{
	"schedule": all, "timeZone": all, "startingDeadlineSeconds": all, "concurrencyPolicy": all,
	"suspend": all, "successfulJobsHistoryLimit": all, "failedJobsHistoryLimit": all,
	"jobTemplate": {"metadata": {"labels": all}, "spec": jobSpec},
}, keep{"lastScheduleTime": all, "lastSuccessfulTime": all})

// What is kept of the kinds that an API server's admission reads of a pod beside its priority
// class (plugin/pkg/admission: runtimeclass, limitranger, resourcequota). No decision reads them.

// RuntimeClasses have no spec: their fields stand beside the metadata.
var keepRuntimeClass = keep{
	"apiVersion": all, "kind": all, "metadata": metadata(),
	"handler": all, "overhead": {"podFixed": all},
	"scheduling": {"nodeSelector": all, "tolerations": tolerations},
}

var keepLimitRange = object(keep{"limits": {
	"type": all, "max": all, "min": all, "default": all, "defaultRequest": all, "maxLimitRequestRatio": all,
}}, nil)

var keepResourceQuota = object(keep{
	"hard": all, "scopes": all,
	"scopeSelector": {"matchExpressions": {"scopeName": all, "operator": all, "values": all}},
}, keep{"hard": all, "used": all})
