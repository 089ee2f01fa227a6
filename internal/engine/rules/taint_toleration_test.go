package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

func TestTaintToleration(t *testing.T) {
	const no, noExec, prefer = corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule
	gpu := et.Node("gpu", et.Taint("dedicated", "gpu", no))
	out := rules.ReasonTaint + "!"
	check(t, "TaintToleration", []ruleCase{
		{
			name: "a NoSchedule taint keeps pods without toleration off, for good", objects: list(gpu, et.Node("free")), pod: et.Pod("p"),
			want: map[string]string{"gpu": out, "free": "ok"},
		},
		{
			name: "NoExecute keeps off as well", objects: list(et.Node("n", et.Taint("k", "v", noExec))), pod: et.Pod("p"),
			want: map[string]string{"n": out}, message: "0/1 nodes are available: 1 node(s) had untolerated taint(s).",
		},
		{
			name: "Equal tolerates its value alone", objects: list(gpu, et.Node("infra", et.Taint("dedicated", "infra", no))),
			pod:  et.Pod("p", et.Tolerate("dedicated", corev1.TolerationOpEqual, "gpu", no)),
			want: map[string]string{"gpu": "ok", "infra": out},
		},
		{
			name: "Exists without key tolerates everything", objects: list(gpu, et.Node("n", et.Taint("k", "v", noExec))),
			pod:  et.Pod("p", et.Tolerate("", corev1.TolerationOpExists, "", "")),
			want: map[string]string{"gpu": "ok", "n": "ok"},
		},
		{
			name: "a toleration of another effect does not help", objects: list(gpu),
			pod: et.Pod("p", et.Tolerate("dedicated", corev1.TolerationOpExists, "", noExec)), want: map[string]string{"gpu": out},
		},
		{
			name: "Gt is off in v1.36 and tolerates nothing", objects: list(et.Node("n", et.Taint("level", "7", no))),
			pod: et.Pod("p", et.Tolerate("level", "Gt", "5", no)), want: map[string]string{"n": out},
		},
		{
			name: "untolerated PreferNoSchedule taints cost points in proportion", pod: et.Pod("p"),
			objects: list(et.Node("two", et.Taint("a", "", prefer), et.Taint("b", "", prefer)), et.Node("one", et.Taint("a", "", prefer)), et.Node("none")),
			scores:  map[string]string{"two": "2/0", "one": "1/50", "none": "0/100"},
		},
		{
			name: "only tolerations of that effect, or of all, save points", objects: list(et.Node("n", et.Taint("a", "", prefer)), et.Node("none")),
			pod:    et.Pod("p", et.Tolerate("a", corev1.TolerationOpExists, "", no)),
			scores: map[string]string{"n": "1/0", "none": "0/100"},
		},
	})
}

func TestTaintTolerationNamesTheTaintsInDetail(t *testing.T) {
	n := et.Node("n", et.Taint("dedicated", "gpu", corev1.TaintEffectNoSchedule), et.Taint("soft", "", corev1.TaintEffectPreferNoSchedule),
		et.Taint("out", "", corev1.TaintEffectNoExecute), et.Taint("known", "", corev1.TaintEffectNoSchedule))
	d := decide(t, ruleCase{objects: list(n), pod: et.Pod("p", et.Tolerate("known", corev1.TolerationOpExists, "", ""))})
	want := []engine.Detail{{Kind: "taint", Key: "dedicated", Value: "gpu", Effect: "NoSchedule"}, {Kind: "taint", Key: "out", Effect: "NoExecute"}}
	if diff := cmp.Diff(want, details(t, d, "n")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
