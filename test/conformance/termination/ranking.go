package termination

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	v1resource "k8s.io/kubernetes/pkg/api/v1/resource"
	kubelettypes "k8s.io/kubernetes/pkg/kubelet/types"
)

// Node is a node's pods with what they use of what runs out.
type Node struct {
	Signal string
	Pods   []*corev1.Pod
	Usage  map[string]int64 // by the pod's name; none: no statistics
}

// Node makes a node of up to n pods.
func (g *Generator) Node(n int) Node {
	out := Node{Signal: pick(g, "memory", "memory", "disk", "disk", "inodes", "pids"), Usage: map[string]int64{}}
	key := out.key()
	for range n {
		g.n++
		p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", g.n), Namespace: "default", UID: "u"}}
		if g.chance(70) {
			priority := pick(g, int32(0), 0, 5, 100, -7, 1999999999, 2000000000)
			p.Spec.Priority = &priority
		}
		p.Status.Phase = pick(g, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed)
		if g.chance(25) {
			at := metav1.NewTime(Now)
			p.DeletionTimestamp = &at
		}
		if g.chance(5) {
			p.Annotations = map[string]string{"kubernetes.io/config.mirror": ""}
		}
		if g.chance(15) {
			p.Annotations = map[string]string{"kubernetes.io/config.source": pick(g, "api", "file", "http")}
		}
		some := func() corev1.ResourceList {
			list := corev1.ResourceList{}
			if g.chance(70) {
				list[corev1.ResourceName(key)] = *resource.NewQuantity(int64(g.IntN(20)), resource.BinarySI)
			}
			if g.chance(40) {
				list[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(int64(g.IntN(20)), resource.BinarySI)
			}
			if out.Signal == "pids" || out.Signal == "inodes" {
				delete(list, corev1.ResourceName(key))
			}
			return list
		}
		for i := range 1 + g.IntN(2) {
			c := corev1.Container{Name: fmt.Sprint("c", i), Image: "i"}
			if g.chance(70) {
				c.Resources.Requests = some()
			} else {
				c.Resources.Limits = some()
			}
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
		if g.chance(40) {
			c := corev1.Container{Name: "first", Image: "i", Resources: corev1.ResourceRequirements{Requests: some()}}
			if g.chance(50) {
				always := corev1.ContainerRestartPolicyAlways
				c.RestartPolicy = &always
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
		if g.chance(50) {
			g.statuses(p)
		}
		if g.chance(30) {
			p.Spec.Overhead = some()
		}
		if g.chance(15) && out.Signal == "memory" {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(int64(30+g.IntN(40)), resource.BinarySI)}}
		}
		if g.chance(90) {
			out.Usage[p.Name] = int64(g.IntN(50))
		}
		out.Pods = append(out.Pods, p)
	}
	return out
}

func (n *Node) key() string {
	return map[string]string{"memory": "memory", "disk": "ephemeral-storage", "inodes": "inodes", "pids": "pids"}[n.Signal]
}

// stats puts what pods use where the kubelet looks for it: disk and inodes in
// three parts.
func (n *Node) stats(p *corev1.Pod) (s statsapi.PodStats, found bool) {
	usage, found := n.Usage[p.Name]
	u := uint64(usage)
	switch n.Signal {
	case "memory":
		s.Memory = &statsapi.MemoryStats{WorkingSetBytes: &u}
	case "pids":
		s.ProcessStats = &statsapi.ProcessStats{ProcessCount: &u}
	default:
		logs, root := u/3, u-u/3
		part := func(v *uint64) *statsapi.FsStats {
			if n.Signal == "inodes" {
				return &statsapi.FsStats{InodesUsed: v}
			}
			return &statsapi.FsStats{UsedBytes: v}
		}
		s.Containers = []statsapi.ContainerStats{{Name: "c0", Rootfs: part(&root), Logs: part(&logs)}}
	}
	return s, found
}

// rank is the kubelet's order.
func (n *Node) rank(pods []*corev1.Pod) {
	measure := []string{"images", "root", "logs", "localVolumeSource"}
	switch n.Signal {
	case "memory":
		rankMemory(pods, n.stats)
	case "disk":
		rankDisk(measure, corev1.ResourceEphemeralStorage)(pods, n.stats)
	case "inodes":
		rankDisk(measure, "inodes")(pods, n.stats)
	case "pids":
		rankPIDs(pods, n.stats)
	}
}

// TryNode asks both sides for the order, and describes how they differ.
func TryNode(c *Client, n Node) (string, error) {
	type used struct {
		Pod   *corev1.Pod       `json:"pod"`
		Usage map[string]string `json:"usage,omitempty"`
	}
	var asked struct {
		Signal string `json:"signal"`
		Pods   []used `json:"pods"`
	}
	asked.Signal = n.Signal
	for _, p := range n.Pods {
		u := used{Pod: p}
		if usage, known := n.Usage[p.Name]; known {
			u.Usage = map[string]string{n.key(): fmt.Sprint(usage)}
		}
		asked.Pods = append(asked.Pods, u)
	}
	var got struct {
		Ranking []struct {
			Name               string
			ExceedsRequests    bool
			Priority           int32
			UsageAboveRequests *resource.Quantity
		}
		Protected []struct{ Name string }
	}
	if err := c.post("/v1/nodes/eviction-ranking", asked, &got); err != nil {
		return "", err
	}
	workers := newWorkers(n.Pods)
	byName, out, protected := map[string]*corev1.Pod{}, "", map[string]bool{}
	for _, p := range n.Pods {
		p = p.DeepCopy()
		legacyscheme.Scheme.Default(p)
		byName[p.Name] = p
		// A kubelet ranks active pods, and does not evict critical ones.
		inactive, err := workers.inactive(p)
		if err != nil {
			return "", err
		}
		if inactive || kubelettypes.IsCriticalPod(p) {
			protected[p.Name] = true
		}
	}
	for _, p := range got.Protected {
		if !protected[p.Name] {
			out += p.Name + " is not protected\n"
		}
	}
	if len(got.Protected) != len(protected) || len(got.Ranking)+len(protected) != len(n.Pods) {
		return fmt.Sprintf("%d pods: %d protected of %d, %d ranked\n%s", len(n.Pods), len(got.Protected), len(protected), len(got.Ranking), out), nil
	}
	for i, r := range got.Ranking {
		p := byName[r.Name]
		if why := n.numbers(p, r.ExceedsRequests, r.UsageAboveRequests); why != "" {
			out += r.Name + ": " + why + "\n"
		}
		// Neighbours are in the kubelet's order unless it puts the second first.
		if i > 0 {
			pair := []*corev1.Pod{byName[got.Ranking[i-1].Name], p}
			if n.rank(pair); pair[0] == p {
				out += fmt.Sprintf("%s comes before %s\n", r.Name, got.Ranking[i-1].Name)
			}
		}
	}
	return out, nil
}

// numbers holds a pod's numbers to the kubelet's own requests.
func (n *Node) numbers(p *corev1.Pod, exceeds bool, above *resource.Quantity) string {
	usage, known := n.Usage[p.Name]
	if !known {
		if above != nil || exceeds {
			return "numbers without statistics"
		}
		return ""
	}
	wantExceeds, wantAbove := false, usage
	if n.Signal != "pids" {
		own := v1resource.GetResourceRequestQuantity(p, corev1.ResourceName(n.key()))
		wantExceeds = usage > own.Value()
		if n.Signal == "inodes" {
			own = v1resource.GetResourceRequestQuantity(p, corev1.ResourceEphemeralStorage)
		}
		wantAbove -= own.Value()
	}
	if above == nil || above.Value() != wantAbove || exceeds != wantExceeds {
		return fmt.Sprintf("want %v %d, got %v %v", wantExceeds, wantAbove, exceeds, above)
	}
	return ""
}
