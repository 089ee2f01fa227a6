package semantics

import "fmt"

// Life is how a kubelet of the release leads the life of a pod. Decisions do not read it.
type Life struct {
	// RestartsAll reports whether rules of a container may restart all of its pod's, which stays
	// initialized meanwhile (RestartAllContainersOnContainerExits; pkg/api/v1/pod
	// ContainerShouldRestart; D1).
	RestartsAll bool
	// TellsSandbox reports whether PodReadyToStartContainers has a reason where it is False
	// (pkg/kubelet/status GeneratePodReadyToStartContainersCondition; D3).
	TellsSandbox bool
	// ExitedInitialized reports whether main containers that have ended show that all init ones
	// were done, so that those whose state is lost do not run again (pkg/kubelet/kuberuntime
	// computeInitContainerActions; D4).
	ExitedInitialized bool
	// ExecProbesGoOn reports whether the exec probes of a pod that ends still ask its containers;
	// otherwise readiness stays as it was (pkg/kubelet/prober AddPod; D5).
	ExecProbesGoOn bool
	// OwnRestarts reports whether the rules and the policy of a container that is no sidecar say
	// whether it starts again (ContainerRestartRules; pkg/kubelet getPhase; D10).
	OwnRestarts bool
}

// OfKubelet returns the release whose kubelet one of a version follows: that of its minor release,
// else the nearest that is known, and then why. It is nil where the text is no version.
func OfKubelet(version string) (r *Release, why string) {
	major, is, ok := numbers(version)
	if !ok {
		return nil, ""
	}
	oldest := releases[0]
	if m, n, _ := numbers(oldest.Name); major < m || major == m && is < n {
		return oldest, fmt.Sprintf("the kubelet of the pod's node is %s, and older than any release that is known", version)
	}
	for _, r := range releases {
		if m, n, _ := numbers(r.Name); major == m && is == n {
			return r, ""
		}
	}
	return Newest(), fmt.Sprintf("the kubelet of the pod's node is %s, and newer than any release that is known", version)
}

// numbers returns the first two numbers of a version such as v1.36.3-gke.100.
func numbers(version string) (major, is int, ok bool) {
	n, err := fmt.Sscanf(version, "v%d.%d", &major, &is)
	return major, is, n == 2 && err == nil
}
