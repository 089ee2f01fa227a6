package stored

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePod(p *corev1.Pod) field.ErrorList {
	return append(validateStored(p), checkPodStatus(&p.Status, field.NewPath("status"))...)
}

// checkPodStatus checks what a status counts with: quantities and times.
func checkPodStatus(s *corev1.PodStatus, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, checkTime(s.StartTime, path.Child("startTime"))...)
	for i := range s.Conditions {
		errs = append(errs, checkTime(&s.Conditions[i].LastTransitionTime, path.Child("conditions").Index(i).Child("lastTransitionTime"))...)
	}
	quantities := func(r *corev1.ResourceRequirements, at *field.Path) {
		if r != nil {
			errs = append(errs, checkQuantities(r.Requests, at.Child("requests").Key)...)
			errs = append(errs, checkQuantities(r.Limits, at.Child("limits").Key)...)
		}
	}
	quantities(s.Resources, path.Child("resources"))
	errs = append(errs, checkQuantities(s.AllocatedResources, path.Child("allocatedResources").Key)...)
	for name, list := range map[string][]corev1.ContainerStatus{
		"containerStatuses": s.ContainerStatuses, "initContainerStatuses": s.InitContainerStatuses, "ephemeralContainerStatuses": s.EphemeralContainerStatuses,
	} {
		for i := range list {
			c, at := &list[i], path.Child(name).Index(i)
			quantities(c.Resources, at.Child("resources"))
			errs = append(errs, checkQuantities(c.AllocatedResources, at.Child("allocatedResources").Key)...)
			errs = append(errs, checkState(&c.State, at.Child("state"))...)
			errs = append(errs, checkState(&c.LastTerminationState, at.Child("lastState"))...)
		}
	}
	sortErrors(errs)
	return errs
}

func checkState(s *corev1.ContainerState, path *field.Path) (errs field.ErrorList) {
	if s.Running != nil {
		errs = append(errs, checkTime(&s.Running.StartedAt, path.Child("running", "startedAt"))...)
	}
	if t := s.Terminated; t != nil {
		errs = append(errs, checkTime(&t.StartedAt, path.Child("terminated", "startedAt"))...)
		errs = append(errs, checkTime(&t.FinishedAt, path.Child("terminated", "finishedAt"))...)
	}
	return errs
}
