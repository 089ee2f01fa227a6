package stored

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Templates are not validated: their pods are, when they are made.

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	errs := requireSelector(d.Spec.Selector)
	for i, c := range d.Status.Conditions {
		at := field.NewPath("status", "conditions").Index(i)
		errs = append(errs, checkTime(&c.LastTransitionTime, at.Child("lastTransitionTime"))...)
		errs = append(errs, checkTime(&c.LastUpdateTime, at.Child("lastUpdateTime"))...)
	}
	return errs
}

func validateJob(j *batchv1.Job) field.ErrorList {
	errs := checkSelector(j.Spec.Selector, field.NewPath("spec", "selector"))
	status := field.NewPath("status")
	errs = append(errs, checkTime(j.Status.StartTime, status.Child("startTime"))...)
	errs = append(errs, checkTime(j.Status.CompletionTime, status.Child("completionTime"))...)
	for i, c := range j.Status.Conditions {
		errs = append(errs, checkTime(&c.LastTransitionTime, status.Child("conditions").Index(i).Child("lastTransitionTime"))...)
	}
	return errs
}

func validateCronJob(c *batchv1.CronJob) field.ErrorList {
	errs := checkTime(c.Status.LastScheduleTime, field.NewPath("status", "lastScheduleTime"))
	return append(errs, checkTime(c.Status.LastSuccessfulTime, field.NewPath("status", "lastSuccessfulTime"))...)
}

func requireSelector(s *metav1.LabelSelector) field.ErrorList {
	path := field.NewPath("spec", "selector")
	if s == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	return checkSelector(s, path)
}

func validateRuntimeClass(c *nodev1.RuntimeClass) field.ErrorList {
	if c.Overhead == nil {
		return nil
	}
	return checkQuantities(c.Overhead.PodFixed, field.NewPath("overhead", "podFixed").Key)
}
