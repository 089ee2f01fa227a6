package apiserver

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsv1internal "k8s.io/kubernetes/pkg/apis/apps/v1"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/batch"
	batchv1internal "k8s.io/kubernetes/pkg/apis/batch/v1"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1internal "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
)

// podOptions are options of rules that depend on what a template of pods has.
type podOptions = corevalidation.PodValidationOptions

// workload returns the judge of a kind that makes pods of its template.
func workload[V, I any](setDefaults func(*V), convert func(*V, *I, conversion.Scope) error,
	template func(*I) *core.PodTemplateSpec, create func(*I, podOptions) field.ErrorList,
	update func(now, old *I, o podOptions) field.ErrorList,
) judge {
	return prepared(setDefaults, convert,
		func(x *I) field.ErrorList { return checkTemplate(template(x), field.NewPath("spec")) },
		func(x *I) field.ErrorList { return create(x, optionsOf(template(x), nil)) },
		func(now, old *I) field.ErrorList {
			return update(now, old, optionsOf(template(now), template(old)))
		})
}

// optionsOf takes nil for a template that is not there.
var optionsOf = podutil.GetValidationOptionsFromPodTemplate

var replicationController = workload(corev1internal.SetObjectDefaults_ReplicationController,
	corev1internal.Convert_v1_ReplicationController_To_core_ReplicationController,
	func(c *core.ReplicationController) *core.PodTemplateSpec { return c.Spec.Template },
	corevalidation.ValidateReplicationController, corevalidation.ValidateReplicationControllerUpdate)

var replicaSet = workload(appsv1internal.SetObjectDefaults_ReplicaSet,
	appsv1internal.Convert_v1_ReplicaSet_To_apps_ReplicaSet,
	func(s *apps.ReplicaSet) *core.PodTemplateSpec { return &s.Spec.Template },
	appsvalidation.ValidateReplicaSet, appsvalidation.ValidateReplicaSetUpdate)

var deployment = workload(appsv1internal.SetObjectDefaults_Deployment,
	appsv1internal.Convert_v1_Deployment_To_apps_Deployment,
	func(d *apps.Deployment) *core.PodTemplateSpec { return &d.Spec.Template },
	appsvalidation.ValidateDeployment, appsvalidation.ValidateDeploymentUpdate)

var statefulSet = workload(appsv1internal.SetObjectDefaults_StatefulSet,
	appsv1internal.Convert_v1_StatefulSet_To_apps_StatefulSet,
	func(s *apps.StatefulSet) *core.PodTemplateSpec { return &s.Spec.Template },
	createStatefulSet, updateStatefulSet)

func createStatefulSet(s *apps.StatefulSet, o podOptions) field.ErrorList {
	return appsvalidation.ValidateStatefulSet(s, appsvalidation.StatefulSetValidationOptions{}, o)
}

// updateStatefulSet tolerates what cannot change, and the strategy Recreate where it is there
// (pkg/registry/apps/statefulset strategy.go, ValidateUpdate). It compares selectors alone where
// releases before v0.4.0 stored the old set: they kept no more of it.
func updateStatefulSet(now, old *apps.StatefulSet, o podOptions) field.ErrorList {
	if len(old.Spec.Template.Spec.Containers) == 0 {
		whole := *now
		whole.Spec.Selector = old.Spec.Selector
		old = &whole
	}
	return appsvalidation.ValidateStatefulSetUpdate(now, old, appsvalidation.StatefulSetValidationOptions{
		AllowInvalidServiceName: true, SkipValidateVolumeClaimTemplates: true,
		AllowStatefulSetRecreateStrategy: old.Spec.UpdateStrategy.Type == apps.RecreateStatefulSetStrategyType,
	}, o)
}

var daemonSet = workload(appsv1internal.SetObjectDefaults_DaemonSet,
	appsv1internal.Convert_v1_DaemonSet_To_apps_DaemonSet,
	func(s *apps.DaemonSet) *core.PodTemplateSpec { return &s.Spec.Template },
	appsvalidation.ValidateDaemonSet, updateDaemonSet)

// updateDaemonSet counts the generations of the template first, as an API server does
// (pkg/registry/apps/daemonset strategy.go, PrepareForUpdate).
func updateDaemonSet(now, old *apps.DaemonSet, o podOptions) field.ErrorList {
	counted := *now
	counted.Spec.TemplateGeneration = old.Spec.TemplateGeneration
	if !apiequality.Semantic.DeepEqual(now.Spec.Template, old.Spec.Template) {
		counted.Spec.TemplateGeneration++
	}
	return appsvalidation.ValidateDaemonSetUpdate(&counted, old, o)
}

var job = prepared(batchv1internal.SetObjectDefaults_Job,
	batchv1internal.Convert_v1_Job_To_batch_Job,
	func(j *batch.Job) field.ErrorList {
		selectPods(j)
		return checkTemplate(&j.Spec.Template, field.NewPath("spec"))
	},
	func(j *batch.Job) field.ErrorList {
		return batchvalidation.ValidateJobCreate(j, batchvalidation.JobValidationOptions{
			PodValidationOptions: optionsOf(&j.Spec.Template, nil), RequirePrefixedLabels: true,
		})
	},
	updateJob)

// selectPods sets the selector of a job, and the labels of its template that fit it, unless it has
// its own (pkg/registry/batch/job strategy.go, generateSelector).
func selectPods(j *batch.Job) {
	if j.Spec.ManualSelector != nil && *j.Spec.ManualSelector {
		return
	}
	if j.Spec.Template.Labels == nil {
		j.Spec.Template.Labels = map[string]string{}
	}
	labels := j.Spec.Template.Labels
	for key, value := range map[string]string{
		batch.LegacyJobNameLabel: j.Name, batch.JobNameLabel: j.Name,
		batch.LegacyControllerUidLabel: string(j.UID), batch.ControllerUidLabel: string(j.UID),
	} {
		if _, given := labels[key]; !given {
			labels[key] = value
		}
	}
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	if _, given := j.Spec.Selector.MatchLabels[batch.ControllerUidLabel]; !given {
		metav1.AddLabelToSelector(j.Spec.Selector, batch.ControllerUidLabel, string(j.UID))
	}
}

// updateJob lets the template of a suspended job change that has not started, or no longer runs
// (pkg/registry/batch/job strategy.go, validationOptionsForJob).
func updateJob(now, old *batch.Job) field.ErrorList {
	_, named := old.Spec.Template.Labels[batch.JobNameLabel]
	_, owned := old.Spec.Template.Labels[batch.ControllerUidLabel]
	rests := old.Spec.Suspend != nil && *old.Spec.Suspend && (old.Status.StartTime == nil ||
		batchvalidation.IsConditionTrue(old.Status.Conditions, batch.JobSuspended))
	return batchvalidation.ValidateJobUpdate(now, old, batchvalidation.JobValidationOptions{
		PodValidationOptions:             optionsOf(&now.Spec.Template, &old.Spec.Template),
		AllowMutableSchedulingDirectives: rests, AllowMutablePodResources: rests,
		RequirePrefixedLabels: named && owned,
	})
}

var cronJob = prepared(batchv1internal.SetObjectDefaults_CronJob,
	batchv1internal.Convert_v1_CronJob_To_batch_CronJob,
	func(c *batch.CronJob) field.ErrorList {
		at := field.NewPath("spec", "jobTemplate", "spec")
		return checkTemplate(&c.Spec.JobTemplate.Spec.Template, at)
	},
	func(c *batch.CronJob) field.ErrorList {
		o := optionsOf(&c.Spec.JobTemplate.Spec.Template, nil)
		return batchvalidation.ValidateCronJobCreate(c, o)
	},
	func(now, old *batch.CronJob) field.ErrorList {
		o := optionsOf(&now.Spec.JobTemplate.Spec.Template, &old.Spec.JobTemplate.Spec.Template)
		return batchvalidation.ValidateCronJobUpdate(now, old, o)
	})
