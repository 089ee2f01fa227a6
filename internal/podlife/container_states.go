package podlife

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// stateTransitions returns what an API server refuses in the container states of a pod's new
// status: a container that has ended and is not to run again runs, or waits
// (pkg/apis/core/validation ValidateContainerStateTransition, ValidateInitContainerStateTransition,
// ValidateEphemeralContainerStateTransition).
func stateTransitions(now, old *corev1.Pod) (errs field.ErrorList) {
	path, s := field.NewPath("status"), &old.Spec
	may := func(list []corev1.Container) func(name string, code int32) bool {
		return func(name string, code int32) bool {
			i := slices.IndexFunc(list, func(c corev1.Container) bool { return c.Name == name })
			if i < 0 {
				return false
			}
			yes, _ := mayRestart(s, &list[i], code)
			return yes
		}
	}
	never := func(string, int32) bool { return false }
	if !anyRestartsAll(s) {
		errs = append(errs, ended(now.Status.ContainerStatuses, old.Status.ContainerStatuses, may(s.Containers), path.Child("containerStatuses"))...)
		errs = append(errs, ended(now.Status.InitContainerStatuses, old.Status.InitContainerStatuses, may(s.InitContainers), path.Child("initContainerStatuses"))...)
	}
	return append(errs, ended(now.Status.EphemeralContainerStatuses, old.Status.EphemeralContainerStatuses, never, path.Child("ephemeralContainerStatuses"))...)
}

// ended returns the errors of one list of containers. may reports whether a container that ended
// with a code may run again.
func ended(now, old []corev1.ContainerStatus, may func(name string, code int32) bool, path *field.Path) (errs field.ErrorList) {
	for i := range old {
		end := old[i].State.Terminated
		if end == nil {
			continue
		}
		k := slices.IndexFunc(now, func(c corev1.ContainerStatus) bool { return c.Name == old[i].Name })
		if k >= 0 && now[k].State.Terminated == nil && !may(old[i].Name, end.ExitCode) {
			errs = append(errs, field.Forbidden(path.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// anyRestartsAll reports whether a container has a rule that restarts all of the pod's
// (pkg/api/v1/pod/util.go AllContainersCouldRestart).
func anyRestartsAll(s *corev1.PodSpec) bool {
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			if slices.ContainsFunc(list[i].RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
				return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
			}) {
				return true
			}
		}
	}
	return false
}
