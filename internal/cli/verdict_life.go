package cli

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
	"berth/internal/report"
)

// read takes from a pod that was given whole what the cluster and its kubelet report.
func (v *verdict) read(whole json.RawMessage) error {
	if whole == nil {
		return nil
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(whole, pod); err != nil {
		return fmt.Errorf("read the pod: %w", err)
	}
	life := podlife.Lifecycle(pod, podlife.NodeHealthy, v.now)
	v.unscheduled, v.life = report.UnscheduledOf(pod), &life
	return nil
}

// trouble prints how a bound pod stands, where not all is well.
func (v *verdict) trouble() {
	l := v.life
	if l == nil || v.node == "" {
		return
	}
	if l.PhaseRule.ID == "phase/node-lost" {
		v.text("Its node " + v.node + " is not Ready: what it shows of the pod is from before, and nothing is started there.")
	}
	for i := range l.Containers {
		if n := &l.Containers[i].Next; n.Rule.ID == "next/volumes" {
			v.text("It cannot start. " + n.Rule.Text)
			return
		}
	}
	s := l.Status
	if l.StatusAfter != "" {
		s += " after " + l.StatusAfter
	}
	if slices.Contains([]string{string(corev1.PodPending), string(corev1.PodRunning), string(corev1.PodSucceeded), "Completed", "ContainerCreating", "PodInitializing"}, s) {
		return
	}
	v.text("Its status is " + s + ": " + l.StatusRule.Text)
}
