package rules_test

import (
	"testing"

	et "berth/test/enginetest"
)

func TestNodeResourcesBalancedAllocation(t *testing.T) {
	size := et.Allocatable("cpu", "10", "memory", "10Gi")
	cpuHeavy := et.Pod("cpu-heavy", et.On("lopsided"), et.Requests("cpu", "5"))
	nodes := list(et.Node("lopsided", size), et.Node("empty", size), cpuHeavy)
	check(t, "NodeResourcesBalancedAllocation", []ruleCase{
		{name: "75 stands for no difference", objects: nodes, pod: et.Pod("p", et.Requests("cpu", "1", "memory", "1Gi")), scores: map[string]string{"lopsided": "75/75", "empty": "75/75"}},
		// lopsided: 75 before, 95 after with 5/10 cpu and 4/10 memory.
		{name: "a pod that evens a node out is worth more there", objects: nodes, pod: et.Pod("p", et.Requests("memory", "4Gi")), scores: map[string]string{"lopsided": "85/85", "empty": "65/65"}},
		{name: "pods that ask for neither are not scored", objects: nodes, pod: et.Pod("p"), scores: map[string]string{}},
		{name: "a node without one of the two has nothing to balance", objects: list(et.Node("n", et.Allocatable("memory", "0", "cpu", "4"))), pod: et.Pod("p", et.Requests("cpu", "3")), scores: map[string]string{"n": "75/75"}},
	})
}
