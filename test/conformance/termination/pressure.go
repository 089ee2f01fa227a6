package termination

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	events "k8s.io/client-go/tools/record"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	testingclock "k8s.io/utils/clock/testing"
)

// synchronize is one pass of the kubelet's eviction manager.
//
//go:linkname synchronize k8s.io/kubernetes/pkg/kubelet/eviction.(*managerImpl).synchronize
func synchronize(manager unsafe.Pointer, ctx context.Context, disks eviction.DiskInfoProvider, pods eviction.ActivePodsFunc) ([]*corev1.Pod, error)

// Pressed is a node under pressure, in the form of berth's request.
type Pressed struct {
	Config  map[string]any               `json:"config"`
	Signals map[string]map[string]string `json:"signals"`
	Pods    []pressedPod                 `json:"pods"`
	Now     time.Time                    `json:"now"`

	hard, soft, grace, reclaim map[string]string
	most                       int64
	transition                 time.Duration
}

type pressedPod struct {
	Pod   *corev1.Pod       `json:"pod"`
	Usage map[string]string `json:"usage"`
	used  map[string]int64
}

const mebi = 1 << 20

// Pressed makes the next one. Memory and one other signal, since upstream orders no
// others; a signal has one threshold, since of two either may come first; and no
// two pods use the same.
func (g *Generator) Pressed() Pressed {
	q := Pressed{Signals: map[string]map[string]string{}, Now: Now, hard: map[string]string{}, soft: map[string]string{}, grace: map[string]string{}, reclaim: map[string]string{}}
	for _, signal := range []string{"memory.available", pick(g, "nodefs.available", "nodefs.inodesFree", "pid.available")} {
		unit := int64(mebi)
		if signal == "pid.available" || signal == "nodefs.inodesFree" {
			unit = 1
		}
		if g.chance(90) {
			q.Signals[signal] = map[string]string{"available": fmt.Sprint(int64(g.IntN(600)) * unit), "capacity": fmt.Sprint(4000 * unit)}
		}
		value := fmt.Sprint(int64(1+g.IntN(500)) * unit)
		if g.chance(30) {
			value = pick(g, "1%", "5%", "7.5%", "10%", "100%", "0%")
		}
		if g.chance(50) {
			q.hard[signal] = value
		} else {
			q.soft[signal], q.grace[signal] = value, pick(g, "0s", "5s", "30s", "1m35s", "3m")
		}
		if g.chance(40) {
			q.reclaim[signal] = pick(g, fmt.Sprint(int64(g.IntN(300))*unit), "1%", "5%")
		}
	}
	q.most, q.transition = pick(g, int64(0), 5, 20, 60), pick(g, 20*time.Second, time.Minute, 5*time.Minute)
	q.Config = map[string]any{
		"evictionHard": q.hard, "evictionSoft": q.soft, "evictionSoftGracePeriod": q.grace, "evictionMinimumReclaim": q.reclaim,
		"evictionMaxPodGracePeriod": q.most, "evictionPressureTransitionPeriod": q.transition.String(),
	}
	for i, n := range g.Perm(300)[:g.IntN(7)] {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i), Namespace: "default", UID: types.UID(fmt.Sprint("u", i))}}
		p.Spec.NodeName, p.Status.Phase = "n", corev1.PodRunning
		period := pick(g, int64(1), 10, 30, 45)
		p.Spec.TerminationGracePeriodSeconds = &period
		c := corev1.Container{Name: "c", Image: "i"}
		if g.chance(50) {
			c.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(int64(g.IntN(300))*mebi, resource.BinarySI)}
		}
		p.Spec.Containers = []corev1.Container{c}
		if g.chance(40) {
			n := pick(g, int32(0), -5, 100, 2000000000)
			p.Spec.Priority = &n
		}
		used := map[string]int64{"memory": int64(n) * mebi, "ephemeral-storage": int64(n+1) * mebi, "inodes": int64(n), "pids": int64(n + 2)}
		usage := map[string]string{}
		for k, v := range used {
			usage[k] = fmt.Sprint(v)
		}
		q.Pods = append(q.Pods, pressedPod{p, usage, used})
	}
	return q
}

// stats are what the kubelet sees at a time.
func (q *Pressed) stats(at time.Time, left map[string]int64, there map[string]bool) *statsapi.Summary {
	s, when := &statsapi.Summary{}, metav1.NewTime(at)
	of := func(signal string) (available, capacity *uint64) {
		text, ok := q.Signals[signal]
		if !ok {
			return nil, nil
		}
		c := resource.MustParse(text["capacity"])
		a, whole := uint64(left[signal]), uint64(c.Value())
		return &a, &whole
	}
	if a, c := of("memory.available"); a != nil {
		rest := *c - *a
		s.Node.Memory = &statsapi.MemoryStats{Time: when, AvailableBytes: a, WorkingSetBytes: &rest}
	}
	fs := &statsapi.FsStats{Time: when}
	fs.AvailableBytes, fs.CapacityBytes = of("nodefs.available")
	fs.InodesFree, fs.Inodes = of("nodefs.inodesFree")
	s.Node.Fs = fs
	if a, c := of("pid.available"); a != nil {
		most, running := int64(*c), int64(*c-*a)
		s.Node.Rlimit = &statsapi.RlimitStats{Time: when, MaxPID: &most, NumOfRunningProcesses: &running}
	}
	for _, p := range q.Pods {
		if !there[p.Pod.Name] {
			continue
		}
		n := func(key string) *uint64 { u := uint64(p.used[key]); return &u }
		s.Pods = append(s.Pods, statsapi.PodStats{
			PodRef: statsapi.PodReference{UID: string(p.Pod.UID)}, Memory: &statsapi.MemoryStats{WorkingSetBytes: n("memory")}, ProcessStats: &statsapi.ProcessStats{ProcessCount: n("pids")},
			Containers: []statsapi.ContainerStats{{Name: "c", Rootfs: &statsapi.FsStats{UsedBytes: n("ephemeral-storage"), InodesUsed: n("inodes")}}},
		})
	}
	return s
}

// given hands out the statistics of the moment.
type given struct {
	summary *statsapi.Summary
}

func (g *given) Get(context.Context, bool) (*statsapi.Summary, error) { return g.summary, nil }

func (g *given) GetCPUAndMemoryStats(context.Context) (*statsapi.Summary, error) {
	return g.summary, nil
}

// oneDisk is a node whose images lie on its one file system.
type oneDisk struct{}

func (oneDisk) HasDedicatedImageFs(context.Context) (bool, error)     { return false, nil }
func (oneDisk) HasDedicatedContainerFs(context.Context) (bool, error) { return false, nil }
func (oneDisk) DeleteUnusedImages(context.Context) error              { return nil }
func (oneDisk) DeleteAllUnusedContainers(context.Context) error       { return nil }
func (oneDisk) IsContainerFsSeparateFromImageFs(context.Context) bool { return false }

// play lets the kubelet's manager pass after pass for half an hour, and writes who
// is evicted and which conditions the node has.
func (q *Pressed) play() (evictions, conditions []string, err error) {
	thresholds, err := eviction.ParseThresholdConfig([]string{"pods"}, q.hard, q.soft, q.grace, q.reclaim)
	if err != nil {
		return nil, nil, err
	}
	clock := testingclock.NewFakeClock(q.Now)
	left, there, stats := map[string]int64{}, map[string]bool{}, &given{}
	for signal, text := range q.Signals {
		a := resource.MustParse(text["available"])
		left[signal] = a.Value()
	}
	for _, p := range q.Pods {
		there[p.Pod.Name] = true
	}
	var took time.Duration
	offset := func(t time.Time) int { return int(t.Sub(q.Now).Seconds()) }
	m, _ := eviction.NewManager(stats, eviction.Config{Thresholds: thresholds, PressureTransitionPeriod: q.transition, MaxPodGracePeriodSeconds: q.most},
		func(p *corev1.Pod, _ bool, period *int64, say func(*corev1.PodStatus)) error {
			status := corev1.PodStatus{}
			say(&status)
			took = time.Duration(max(effective(p, period), 2)) * time.Second
			evictions = append(evictions, fmt.Sprintf("%d %s %d until %d: %s", offset(clock.Now()), p.Name, *period, offset(clock.Now().Add(took)), status.Message))
			return nil
		}, oneDisk{}, oneDisk{}, &events.FakeRecorder{}, nil, clock, false)
	on := map[string]bool{}
	for clock.Since(q.Now) < 30*time.Minute {
		stats.summary = q.stats(clock.Now(), left, there)
		gone, err := synchronize(reflect.ValueOf(m).UnsafePointer(), context.Background(), oneDisk{}, func() (list []*corev1.Pod) {
			for _, p := range q.Pods {
				if there[p.Pod.Name] {
					list = append(list, p.Pod)
				}
			}
			return list
		})
		if err != nil {
			return nil, nil, err
		}
		for name, now := range map[string]bool{"MemoryPressure": m.IsUnderMemoryPressure(), "DiskPressure": m.IsUnderDiskPressure(), "PIDPressure": m.IsUnderPIDPressure()} {
			if now != on[name] {
				conditions = append(conditions, fmt.Sprintf("%s %v %d", name, now, offset(clock.Now())))
				on[name] = now
			}
		}
		if len(gone) == 0 {
			clock.Step(10 * time.Second)
			continue
		}
		for _, p := range q.Pods {
			if p.Pod.Name == gone[0].Name {
				there[p.Pod.Name] = false
				for signal, key := range map[string]string{"memory.available": "memory", "nodefs.available": "ephemeral-storage", "nodefs.inodesFree": "inodes", "pid.available": "pids"} {
					left[signal] += p.used[key]
				}
			}
		}
		clock.Step(took + time.Second)
	}
	return evictions, conditions, nil
}

// TryPressed asks both sides what the kubelet does, and describes how they differ.
func TryPressed(c *Client, q Pressed) (evicted int, difference string, err error) {
	var got struct {
		Evictions []struct {
			OffsetSeconds, GracePeriodSeconds, GoneAtSeconds int64
			Name, Message                                    string
		}
		Conditions []struct {
			Type        string
			From, Until *time.Time
		}
	}
	if err := c.post("/v1/nodes/eviction", q, &got); err != nil {
		return 0, "", err
	}
	wantEvictions, wantConditions, err := q.play()
	if err != nil {
		return 0, "", err
	}
	var evictions []string
	for _, e := range got.Evictions {
		evictions = append(evictions, fmt.Sprintf("%d %s %d until %d: %s", e.OffsetSeconds, e.Name, e.GracePeriodSeconds, e.GoneAtSeconds, e.Message))
	}
	conditions := map[string]bool{}
	for _, c := range got.Conditions {
		conditions[fmt.Sprintf("%s true %d", c.Type, int(c.From.Sub(q.Now).Seconds()))] = true
		if c.Until != nil {
			conditions[fmt.Sprintf("%s false %d", c.Type, int(c.Until.Sub(q.Now).Seconds()))] = true
		}
	}
	out := ""
	if w, g := strings.Join(wantEvictions, "\n"), strings.Join(evictions, "\n"); w != g {
		out += fmt.Sprintf("evictions: want\n%s\ngot\n%s\n", w, g)
	}
	same := len(wantConditions) == len(conditions)
	for _, w := range wantConditions {
		same = same && conditions[w]
	}
	if !same {
		out += fmt.Sprintf("conditions: want %v, got %v\n", wantConditions, conditions)
	}
	return len(wantEvictions), out, nil
}
