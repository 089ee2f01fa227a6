package rules_test

import (
	"slices"
	"testing"

	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

func TestNodeResourcesBalancedAllocation(t *testing.T) {
	size := et.Allocatable("cpu", "10", "memory", "10Gi")
	cpuHeavy := et.Pod("cpu-heavy", et.On("lopsided"), et.Requests("cpu", "5"))
	nodes := list(et.Node("lopsided", size), et.Node("empty", size), cpuHeavy)
	after := func(r *semantics.Release) { r.Balance = semantics.BalanceAfter }
	three := et.Only("NodeResourcesBalancedAllocation")
	three.Args.Balanced.Resources = append(slices.Clone(three.Args.Balanced.Resources), rules.ResourceWeight{Name: "example.com/gpu", Weight: 1})
	check(t, "NodeResourcesBalancedAllocation", []ruleCase{
		{name: "75 stands for no difference", objects: nodes, pod: et.Pod("p", et.Requests("cpu", "1", "memory", "1Gi")), scores: map[string]string{"lopsided": "75/75", "empty": "75/75"}},
		// lopsided: 75 before, 95 after with 5/10 cpu and 4/10 memory.
		{name: "a pod that evens a node out is worth more there", objects: nodes, pod: et.Pod("p", et.Requests("memory", "4Gi")), scores: map[string]string{"lopsided": "85/85", "empty": "65/65"}},
		// Before v1.36 only the balance with the pod counts: 95 with 5/10 cpu and 4/10 memory, 80
		// with 4/10 memory alone.
		{name: "the balance with the pod alone", objects: nodes, pod: et.Pod("p", et.Requests("memory", "4Gi")), scores: map[string]string{"lopsided": "95/95", "empty": "80/80"}, under: after},
		{name: "one resource is in balance", objects: list(et.Node("n", et.Allocatable("memory", "0", "cpu", "4"))), pod: et.Pod("p", et.Requests("cpu", "3")), scores: map[string]string{"n": "100/100"}, under: after},
		// 50, 50 and 10 percent: 1 less their standard deviation, 0.1886.
		{name: "three resources", objects: list(et.Node("n", size, et.Allocatable("example.com/gpu", "10"))), pod: et.Pod("p", et.Requests("cpu", "5", "memory", "5Gi", "example.com/gpu", "1")), spec: &three, scores: map[string]string{"n": "81/81"}, under: after},
		{name: "pods that ask for neither are not scored", objects: nodes, pod: et.Pod("p"), scores: map[string]string{}},
		{name: "a node without one of the two has nothing to balance", objects: list(et.Node("n", et.Allocatable("memory", "0", "cpu", "4"))), pod: et.Pod("p", et.Requests("cpu", "3")), scores: map[string]string{"n": "75/75"}},
	})
}
