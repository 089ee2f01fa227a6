package podlife

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// users are pods that use so much memory, all above what they request.
func users(t *testing.T, list ...string) (out []Consumer) {
	t.Helper()
	for _, text := range list {
		name, usage, _ := strings.Cut(text, " ")
		p := dying(t, `"metadata":{"name":"`+name+`"},"spec":{"terminationGracePeriodSeconds":20},"status":{"phase":"Running"}`)
		out = append(out, Consumer{Pod: p, Usage: corev1.ResourceList{"memory": resource.MustParse(usage), "ephemeral-storage": resource.MustParse(usage), "pids": resource.MustParse("5")}})
	}
	return out
}

func observed(available, capacity string) Observed {
	return Observed{Available: resource.MustParse(available), Capacity: resource.MustParse(capacity)}
}

// relieved writes evictions and conditions.
func relieved(t *testing.T, q Pressure) string {
	t.Helper()
	q.Now = hour
	o, errs := Relieve(q)
	if len(errs) > 0 {
		t.Fatal(lines(errs))
	}
	var out []string
	for _, e := range o.Evictions {
		out = append(out, fmt.Sprintf("%d %s %s %s %d gone %d", e.OffsetSeconds, e.Name, e.Signal, e.Kind, e.GracePeriodSeconds, e.GoneAtSeconds))
	}
	for _, c := range o.Conditions {
		until := "-"
		if c.Until != nil {
			until = fmt.Sprint(int(c.Until.Sub(hour).Seconds()))
		}
		out = append(out, fmt.Sprintf("%s %d to %s", c.Type, int(c.From.Sub(hour).Seconds()), until))
	}
	return strings.Join(out, ", ")
}

func TestNodePressure(t *testing.T) {
	hard := func(v string) EvictionConfig {
		return EvictionConfig{EvictionHard: map[string]string{"memory.available": v}}
	}
	reclaim := hard("300Mi")
	reclaim.EvictionMinimumReclaim = map[string]string{"memory.available": "500Mi"}
	soft := EvictionConfig{
		EvictionHard: map[string]string{"memory.available": "100Mi"}, EvictionSoft: map[string]string{"memory.available": "1Gi"},
		EvictionSoftGracePeriod: map[string]string{"memory.available": "1m35s"}, EvictionMaxPodGracePeriod: 12, EvictionPressureTransitionPeriod: "30s",
	}
	earlier := hour.Add(-time.Minute)
	since := observed("500Mi", "8Gi")
	since.Since = &earlier
	cleaned := observed("5Gi", "100Gi")
	cleaned.Reclaimable = resource.MustParse("20Gi")
	for _, c := range []struct {
		what string
		q    Pressure
		want string
	}{
		{"enough", Pressure{Config: hard("300Mi"), Signals: map[string]Observed{"memory.available": observed("300Mi", "8Gi")}, Pods: users(t, "a 1Gi")}, ""},
		{"one goes, the largest", Pressure{Config: hard("300Mi"), Signals: map[string]Observed{"memory.available": observed("200Mi", "8Gi")}, Pods: users(t, "a 1Gi", "b 2Gi")}, "0 b memory.available hard 1 gone 2, MemoryPressure 0 to 303"},
		{"two, one a pass, the second as soon as the first is gone", Pressure{Config: hard("300Mi"), Signals: map[string]Observed{"memory.available": observed("100Mi", "8Gi")}, Pods: users(t, "a 50Mi", "b 100Mi", "c 70Mi")}, "0 b memory.available hard 1 gone 2, 3 c memory.available hard 1 gone 5, 6 a memory.available hard 1 gone 8, MemoryPressure 0 to 309"},
		{"more is reclaimed than the threshold", Pressure{Config: reclaim, Signals: map[string]Observed{"memory.available": observed("200Mi", "8Gi")}, Pods: users(t, "a 300Mi", "b 200Mi", "c 100Mi", "d 50Mi")}, "0 a memory.available hard 1 gone 2, 3 b memory.available hard 1 gone 5, 6 c memory.available hard 1 gone 8, MemoryPressure 0 to 309"},
		{"soft, after its grace", Pressure{Config: soft, Signals: map[string]Observed{"memory.available": observed("500Mi", "8Gi")}, Pods: users(t, "a 1Gi")}, "100 a memory.available soft 12 gone 112, MemoryPressure 0 to 133"},
		{"soft, since before", Pressure{Config: soft, Signals: map[string]Observed{"memory.available": since}, Pods: users(t, "a 1Gi")}, "40 a memory.available soft 12 gone 52, MemoryPressure 0 to 73"},
		{"hard before soft", Pressure{Config: soft, Signals: map[string]Observed{"memory.available": observed("50Mi", "8Gi")}, Pods: users(t, "a 60Mi", "b 2Gi")}, "0 b memory.available hard 1 gone 2, MemoryPressure 0 to 33"},
		{"nobody to evict", Pressure{Config: hard("300Mi"), Signals: map[string]Observed{"memory.available": observed("200Mi", "8Gi")}}, "MemoryPressure 0 to -"},
		{"the defaults, in percent", Pressure{Signals: map[string]Observed{"nodefs.available": observed("9Gi", "100Gi"), "memory.available": observed("90Mi", "8Gi"), "pid.available": observed("1", "100")}, Pods: users(t, "a 2Gi", "b 500Mi")}, "0 a memory.available hard 1 gone 2, MemoryPressure 0 to 303, DiskPressure 0 to 303"},
		{"cleaning is enough", Pressure{Signals: map[string]Observed{"nodefs.available": cleaned}, Pods: users(t, "a 2Gi")}, "DiskPressure 0 to 300"},
		{"pids", Pressure{Config: EvictionConfig{EvictionHard: map[string]string{"pid.available": "10"}}, Signals: map[string]Observed{"pid.available": observed("4", "100")}, Pods: users(t, "a 1", "b 1", "c 1")}, "0 a pid.available hard 1 gone 2, 3 b pid.available hard 1 gone 5, PIDPressure 0 to 306"},
	} {
		is(t, c.what, relieved(t, c.q), c.want)
	}
	o, _ := Relieve(Pressure{Config: soft, Signals: map[string]Observed{"memory.available": since}, Pods: users(t, "a 1Gi"), Now: hour})
	is(t, "thresholds", []any{len(o.Thresholds), o.Thresholds[1].Kind, o.Thresholds[1].Met, clocked(o.Thresholds[1].Since), clocked(o.Thresholds[1].ActsAt), o.Thresholds[0].Met}, "[2 soft true 11:59:00 12:00:35 false]")
	is(t, "message", o.Evictions[0].Message, "The node was low on resource: memory. Threshold quantity: 1Gi, available: 500Mi. ")
}

// What is free keeps its own format, also after nothing was left.
func TestPressureFromNothingLeft(t *testing.T) {
	q := Pressure{Config: EvictionConfig{EvictionHard: map[string]string{"memory.available": "300Mi"}}, Signals: map[string]Observed{"memory.available": observed("0", "8Gi")}, Pods: users(t, "a 242221056", "b 1Mi"), Now: hour}
	o, errs := Relieve(q)
	if len(errs) > 0 || len(o.Evictions) != 2 {
		t.Fatal(lines(errs), o)
	}
	is(t, "message", o.Evictions[1].Message, "The node was low on resource: memory. Threshold quantity: 300Mi, available: 231Mi. ")

	// The same of a file system, where the kubelet looks for what it can delete first.
	q.Config.EvictionHard = map[string]string{"nodefs.available": "300Mi"}
	q.Signals = map[string]Observed{"nodefs.available": observed("0", "8Gi")}
	for i := range q.Pods {
		q.Pods[i].Usage = corev1.ResourceList{"ephemeral-storage": resource.MustParse("242221056")}
	}
	if o, errs = Relieve(q); len(errs) > 0 || len(o.Evictions) != 2 {
		t.Fatal(lines(errs), o)
	}
	is(t, "message", o.Evictions[1].Message, "The node was low on resource: ephemeral-storage. Threshold quantity: 300Mi, available: 231Mi. ")
}

func TestPressureIsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		q     Pressure
		field string
	}{
		"an unknown threshold": {Pressure{Config: EvictionConfig{EvictionHard: map[string]string{"memory": "1Gi"}}}, "config.evictionHard"},
		"no amount":            {Pressure{Config: EvictionConfig{EvictionHard: map[string]string{"memory.available": "much"}}}, "config.evictionHard[memory.available]"},
		"nothing":              {Pressure{Config: EvictionConfig{EvictionHard: map[string]string{"memory.available": "0"}}}, "config.evictionHard[memory.available]"},
		"more than all":        {Pressure{Config: EvictionConfig{EvictionHard: map[string]string{"memory.available": "101%"}}}, "config.evictionHard[memory.available]"},
		"an empty grace":       {Pressure{Config: EvictionConfig{EvictionSoft: map[string]string{"memory.available": "1Gi"}, EvictionSoftGracePeriod: map[string]string{"memory.available": ""}}}, "config.evictionSoftGracePeriod[memory.available]"},
		"soft without a grace": {Pressure{Config: EvictionConfig{EvictionSoft: map[string]string{"memory.available": "1Gi"}}}, "config.evictionSoft[memory.available]"},
		"no duration":          {Pressure{Config: EvictionConfig{EvictionPressureTransitionPeriod: "5"}}, "config.evictionPressureTransitionPeriod"},
		"an unknown signal":    {Pressure{Signals: map[string]Observed{"cpu": {}}}, "signals"},
		"percent of nothing":   {Pressure{Signals: map[string]Observed{"nodefs.available": {}}}, "signals[nodefs.available].capacity"},
	} {
		out, errs := Relieve(c.q)
		if out != nil || len(errs) != 1 || errs[0].Field != c.field {
			t.Errorf("%s: %v", what, lines(errs))
		}
	}
}
