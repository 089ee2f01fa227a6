package podlife

import (
	"fmt"
	"testing"
)

// A summary's parts are added up as the kubelet ranks by them.
func TestNodeUsage(t *testing.T) {
	read := func(node, pod string) *NodeUsage {
		u, err := ReadNodeUsage([]byte(`{"node":` + node + `,"pods":[` + pod + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	const (
		one   = `{"nodeName":"n","fs":{"capacityBytes":100},"runtime":{"imageFs":{"capacityBytes":100}}}`
		apart = `{"nodeName":"n","fs":{"capacityBytes":100},"runtime":{"imageFs":{"capacityBytes":200}}}`
		split = `{"nodeName":"n","fs":{"capacityBytes":100},"runtime":{"imageFs":{"capacityBytes":200},"containerFs":{"capacityBytes":100}}}`
		pod   = `{"podRef":{"namespace":"a","name":"p","uid":"u"},"memory":{"workingSetBytes":4096,"usageBytes":9000},"process_stats":{"process_count":7},
			"containers":[{"rootfs":{"usedBytes":1,"inodesUsed":10},"logs":{"usedBytes":2,"inodesUsed":20}},{"rootfs":{"usedBytes":4}}],
			"volume":[{"name":"v","usedBytes":8,"inodesUsed":40,"capacityBytes":100},{"name":"tmp","usedBytes":16,"capacityBytes":64},{"name":"claim","usedBytes":32,"pvcRef":{"name":"c"}}],
			"ephemeral-storage":{"usedBytes":1000,"inodesUsed":2000}}`
	)
	for _, c := range []struct {
		node, signal string
		want         string
	}{
		{one, "memory", "memory 4096"},
		{one, "memory.available", "memory 4096"},
		{one, "pids", "pids 7"},
		{one, "pid.available", "pids 7"},
		{one, "disk", "ephemeral-storage 15"},
		{one, "imagefs.available", "ephemeral-storage 15"},
		{one, "inodes", "inodes 70"},
		{apart, "nodefs.available", "ephemeral-storage 10"},
		{apart, "nodefs.inodesFree", "inodes 60"},
		{apart, "imagefs.available", "ephemeral-storage 5"},
		{apart, "containerfs.available", "ephemeral-storage 5"},
		{apart, "disk", "ephemeral-storage 15"},
		{split, "nodefs.available", "ephemeral-storage 15"},
		{split, "containerfs.inodesFree", "inodes 70"},
		{split, "imagefs.available", "ephemeral-storage 0"},
	} {
		s, fs, bad := SignalOf(c.signal)
		if bad != nil {
			t.Fatal(bad)
		}
		u := read(c.node, pod)
		for name, q := range u.Of(s, fs, "a", "p", "u") {
			if got := fmt.Sprint(name, " ", q.Value()); got != c.want {
				t.Errorf("%s of %s: %s, want %s", c.signal, c.node, got, c.want)
			}
		}
		if u.Of(s, fs, "a", "p", "another") != nil || u.Of(s, fs, "b", "p", "u") != nil || u.Of(s, fs, "a", "p", "") == nil {
			t.Errorf("%s: another pod's usage", c.signal)
		}
	}
	// The sum of all stands for parts that are not there; what is not measured is 0.
	whole := read(`{"nodeName":"n"}`, `{"podRef":{"namespace":"a","name":"p"},"ephemeral-storage":{"usedBytes":9}}`)
	disk, memory := whole.Of(SignalDisk, "", "a", "p", ""), whole.Of(SignalMemory, "", "a", "p", "")
	if d, m := disk[usageDisk], memory[usageMemory]; d.Value() != 9 || len(memory) != 1 || m.Value() != 0 || whole.Measures(SignalMemory) || !whole.Measures(SignalDisk) || whole.Measures(SignalInodes) {
		t.Errorf("%v %v", disk, memory)
	}
	if _, _, bad := SignalOf("swap.available"); bad == nil {
		t.Error("a signal that is none")
	}
	// Amounts beyond 63 bits are the largest ones.
	huge := read(`{"nodeName":"n"}`, `{"podRef":{"namespace":"a","name":"p"},"containers":[{"rootfs":{"usedBytes":18446744073709551615},"logs":{"usedBytes":9223372036854775807}}]}`)
	if q := huge.Of(SignalDisk, "", "a", "p", "")[usageDisk]; q.Value() != 9223372036854775807 {
		t.Error(q.Value())
	}
}

// Of metrics.k8s.io the memory of all containers counts, however the list was written.
func TestNodeUsageMetrics(t *testing.T) {
	const one = `"metadata":{"namespace":"a","name":"p"},"containers":[{"usage":{"cpu":"1","memory":"100Mi"}},{"usage":{"memory":"28Mi"}}]`
	for _, text := range []string{
		`{"kind":"PodMetrics","apiVersion":"metrics.k8s.io/v1beta1",` + one + `}`,
		`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[{` + one + `}]}`,
		`{"kind":"List","apiVersion":"v1","items":[{"kind":"PodMetrics",` + one + `}]}`,
	} {
		u, err := ReadNodeUsage([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if q := u.Of(SignalMemory, "", "a", "p", "u")[usageMemory]; q.String() != "128Mi" || u.Summary || u.Measures(SignalDisk) || u.Apart() {
			t.Errorf("%s: %s", text, q.String())
		}
	}
	if _, err := ReadNodeUsage([]byte(`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[{}]}`)); err == nil {
		t.Error("metrics of no pod")
	}
}
