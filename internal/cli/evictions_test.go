package cli

import (
	"fmt"
	"strings"
	"testing"
)

// What does not tell how much pods use is refused with what is read, and how to get it.
func TestEvictionsRefuseUsage(t *testing.T) {
	summary := func(node, pods string) string {
		return fmt.Sprintf(`{"node":{"nodeName":%q},"pods":[%s]}`, node, pods)
	}
	for _, c := range []struct{ signal, usage, want string }{
		{"disk", `{}`, "it does not tell what pods use"},
		{"disk", `[]`, "cannot unmarshal array"},
		{"disk", `x`, "invalid character"},
		{"memory", `{"kind":"PodList","apiVersion":"v1","items":[]}`, "a PodList does not tell what pods use"},
		{"memory", `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[]}`, "the sums of nodes"},
		{"disk", `{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[{"metadata":{"namespace":"default","name":"web"},"containers":[{"usage":{"memory":"1Gi"}}]}]}`, "metrics.k8s.io measures memory, not disk"},
		{"memory", `{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[{"metadata":{"namespace":"shop","name":"web"},"containers":[{"usage":{"memory":"1Gi"}}]}]}`, "it has none of the 5 pods on n1"},
		{"disk", summary("n2", `{"podRef":{"namespace":"default","name":"web"},"ephemeral-storage":{"usedBytes":1}}`), "it is the summary of node n2"},
		{"pids", summary("n1", `{"podRef":{"namespace":"default","name":"web"},"ephemeral-storage":{"usedBytes":1}}`), "no pod in it was measured by pids"},
		{"disk", summary("n1", `{"ephemeral-storage":{"usedBytes":1}}`), "pods[0].podRef.name is missing"},
	} {
		r := call{in: c.usage}.run(t, "evictions", "n1", "--signal", c.signal, "--usage", "-", "--snapshot", critical("cluster.yaml"))
		if r.code != exitBroken || r.out != "" || !strings.Contains(r.err, c.want) || !strings.Contains(r.err, "nodes/n1/proxy/stats/summary") || !strings.Contains(r.err, "metrics.k8s.io/v1beta1/pods") {
			t.Errorf("%s %s: %+v", c.signal, c.usage, r)
		}
	}
	r := call{}.run(t, "evictions", "n1", "--signal", "swap", "--snapshot", critical("cluster.yaml"))
	if r.code != exitBroken || !strings.Contains(r.err, "--signal swap: want one of memory, disk, inodes, pids, memory.available") {
		t.Errorf("%+v", r)
	}
}

// Where images have a filesystem of their own the signals of the two rank by other parts, and a
// name that is not of one of them is told so.
func TestEvictionsByFilesystem(t *testing.T) {
	const usage = `{"node":{"nodeName":"n1","fs":{"capacityBytes":1000},"runtime":{"imageFs":{"capacityBytes":2000}}},"pods":[
		{"podRef":{"namespace":"default","name":"web"},"containers":[{"rootfs":{"usedBytes":20000000000},"logs":{"usedBytes":5}}]},
		{"podRef":{"namespace":"default","name":"jumpbox"},"containers":[{"rootfs":{"usedBytes":3},"logs":{"usedBytes":700000000}}]}]}`
	for signal, want := range map[string][]string{
		"nodefs.available":  {"default/hipri", "default/jumpbox", "default/web"},
		"imagefs.available": {"default/hipri", "default/web", "default/jumpbox"},
		"disk":              {"default/hipri", "default/web", "default/jumpbox"},
	} {
		r := call{in: usage}.run(t, "evictions", "n1", "--signal", signal, "--usage", "-", "--snapshot", critical("cluster.yaml"), "-o", "wide")
		at := 0
		for _, name := range want {
			i := strings.Index(r.out[at:], name)
			if i < 0 {
				t.Fatalf("%s: no %s behind %d of %+v", signal, name, at, r)
			}
			at += i
		}
		if !strings.Contains(r.out, "The usage of 2 of 3 pods is known") || (r.err != "") != (signal == "disk") {
			t.Errorf("%s: %+v", signal, r)
		}
	}
}

// What is wrong with what a kubelet observes, or with its configuration, is refused by name.
func TestPressureRefuses(t *testing.T) {
	for _, c := range []struct {
		in, want string
		args     []string
	}{
		{"", "nothing is known of what the kubelet observes", nil},
		{"", `--signal "memory=1": want one of memory.available`, []string{"--signal", "memory=1"}},
		{"", `"-1": want a quantity that is not negative`, []string{"--signal", "memory.available=-1"}},
		{"", "since=\"x\": want an age", []string{"--signal", "memory.available=1,since=x"}},
		{"", "size=1: want capacity=, reclaimable= or since=", []string{"--signal", "memory.available=1,size=1"}},
		{"", "a threshold in percent needs it", []string{"--signal", "nodefs.available=1"}},
		{"", `--eviction-soft "x": want a signal and its value`, []string{"--signal", "memory.available=1", "--eviction-soft", "x"}},
		{"", "config.evictionHard[memory.available]", []string{"--signal", "memory.available=1", "--eviction-hard", "memory.available<x"}},
		{"", "it needs a period in evictionSoftGracePeriod", []string{"--signal", "memory.available=1", "--eviction-soft", "memory.available<1Gi"}},
		{"kind: Pod\n", `kind "Pod" is none of a kubelet's configuration`, []string{"--signal", "memory.available=1", "-f", "-"}},
		{"{", "Expected a KubeletConfiguration", []string{"--signal", "memory.available=1", "-f", "-"}},
		{"", "there is no node n9", []string{"--signal", "memory.available=1"}},
	} {
		node := "n1"
		if strings.Contains(c.want, "n9") {
			node = "n9"
		}
		r := call{in: c.in}.run(t, append([]string{"pressure", node, "--snapshot", critical("cluster.yaml")}, c.args...)...)
		if r.code != exitBroken || r.out != "" || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: %+v", c, r)
		}
	}
}

// A kubelet's configz is read as its file is, and a flag wins over either.
func TestPressureReadsConfigz(t *testing.T) {
	const configz = `{"kubeletconfig":{"evictionHard":{"memory.available":"2Gi"},"mergeDefaultEvictionSettings":true}}`
	for args, want := range map[string]string{
		"":                                     "EVICTS",
		"--eviction-hard memory.available<1Mi": "CALM",
	} {
		r := call{in: configz}.run(t, append([]string{"pressure", "n1", "--signal", "memory.available=1Gi", "-f", "-", "--snapshot", critical("cluster.yaml")}, strings.Fields(args)...)...)
		if !strings.HasPrefix(r.out, want) || !strings.Contains(r.out, "imagefs.inodesFree") {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
