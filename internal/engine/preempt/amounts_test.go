package preempt_test

import (
	"testing"

	et "berth/test/enginetest"
)

// TestHugeRequests: amounts near and above 63 bits count as upstream's arithmetic has them, in the
// choice of the node as in the list of victims.
func TestHugeRequests(t *testing.T) {
	for _, memory := range [][2]string{{"7E", "7E"}, {"8E", "8E"}, {"100E", "1"}} {
		d := asked(t, et.Pod("p", et.Priority(2000)),
			et.Node("n1", et.Allocatable("pods", "1")), et.Node("n2", et.Allocatable("pods", "3")),
			et.Pod("a", et.On("n1"), et.Priority(5)), et.Pod("d", et.On("n2")),
			et.Pod("x", et.On("n2"), et.Priority(1000), et.Requests("memory", memory[0])),
			et.Pod("y", et.On("n2"), et.Priority(1000), et.Requests("memory", memory[1])))
		want(t, d, "n2: d")
	}
}

// TestHugeCapacity: an allocatable above 63 bits is below 0 in upstream's arithmetic. A pod brings
// it above 0 again.
func TestHugeCapacity(t *testing.T) {
	d := asked(t, et.Pod("p", et.Priority(2000), et.Requests("memory", "64Mi")),
		et.Node("n1", et.Allocatable("memory", "4Gi", "pods", "1")), et.Node("n2", et.Allocatable("memory", "9223372036854775808", "pods", "1")),
		et.Pod("a", et.On("n1"), et.Priority(5)), et.Pod("b", et.On("n2"), et.Requests("memory", "32Mi")))
	want(t, d, "n1: a")
}
