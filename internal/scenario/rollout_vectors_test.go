package scenario_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/scenario"
	"berth/test/enginetest"
)

// rolloutVector is a case of testdata/rollouts.jsonl, which test/conformance/cmd/rollouts writes.
type rolloutVector struct {
	Replicas, Sick, Sets, Start int
	Surge, Unavailable          string
	Recreate                    bool
	Steps                       []string
	Pods                        []struct {
		Name, Node, Phase, Cost string
		Ready                   bool
		Since, Created          int
		Restarts                int32
	}
}

// TestUpstreamsRollouts compares with what the real DeploymentController did, and with the order in
// which a ReplicaSet deletes pods.
func TestUpstreamsRollouts(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "rollouts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	if len(lines) < 300 {
		t.Fatalf("only %d vectors", len(lines))
	}
	for i, line := range lines {
		var c rolloutVector
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		got, want := c.steps(t), strings.Join(c.Steps, ", ")
		if len(c.Pods) > 0 {
			got, want = c.removed(t)
		}
		if got != want {
			t.Errorf("vector %d: %s\nours     %s\nupstream %s", i, line, got, want)
		}
	}
}

// steps runs a rollout. Two changes of a set in one sync are one step of the vector.
func (c *rolloutVector) steps(t *testing.T) string {
	if len(c.Pods) > 0 {
		return ""
	}
	objects := []any{enginetest.Node("a", enginetest.Allocatable("cpu", "1000", "pods", "1000"))}
	left, sick := c.Replicas, c.Sick
	for k := range c.Sets {
		n := left / (c.Sets - k)
		left -= n
		set := webSet(fmt.Sprintf("web-%d", k), int32(n))
		set.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour + time.Duration(k)*time.Minute))
		objects = append(objects, set)
		for j := range n {
			p := podOfWeb(set.Name, fmt.Sprintf("%s-%02d", set.Name, j), "a")
			if sick > 0 {
				sick--
				p.Status.Conditions[0].Status = corev1.ConditionFalse
			}
			objects = append(objects, p)
		}
	}
	pods := func(s string) string {
		if strings.HasSuffix(s, "%") {
			return `"` + s + `"`
		}
		return s
	}
	strategy := `{"rollingUpdate":{"maxSurge":` + pods(c.Surge) + `,"maxUnavailable":` + pods(c.Unavailable) + `}}`
	if c.Recreate {
		strategy = `{"type":"Recreate"}`
	}
	start := int64(c.Start)
	manifest := deployment(fmt.Sprintf(`"replicas":%d,"strategy":%s,`, c.Replicas, strategy))
	got, err := rollOut(t, viewOf(t, objects...), &scenario.RolloutQuestion{StartSeconds: &start, Deployment: manifest})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i, s := range got.Steps {
		if i > 0 && s.To < s.From {
			if b := got.Steps[i-1]; b.Set == s.Set && b.AfterSeconds == s.AfterSeconds && b.To == s.From {
				list, s.From = list[:len(list)-1], b.From
			}
		}
		if s.Set == got.Sets[len(got.Sets)-1].Name {
			s.Set = "new"
		}
		list = append(list, fmt.Sprintf("%d %s %d>%d", s.AfterSeconds, s.Set, s.From, s.To))
	}
	return strings.Join(list, ", ")
}

// removed deletes all pods of a set but the last one, as the replicas change to 1.
func (c *rolloutVector) removed(t *testing.T) (got, want string) {
	objects := []any{webSet("web-1", int32(len(c.Pods)))}
	for _, n := range []string{"a", "b", "c"} {
		objects = append(objects, enginetest.Node(n, enginetest.Allocatable("cpu", "20")))
	}
	var names []string
	for i := range c.Pods {
		v := &c.Pods[i]
		names = append(names, v.Name)
		p := podOfWeb("web-1", v.Name, v.Node)
		p.CreationTimestamp = metav1.NewTime(noon.Add(-time.Duration(v.Created) * time.Second))
		p.Spec.NodeName, p.Status.Phase = v.Node, corev1.PodPhase(v.Phase)
		p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(-time.Duration(v.Since) * time.Second))
		if !v.Ready {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: v.Restarts}}
		if v.Cost != "" {
			p.Annotations = map[string]string{corev1.PodDeletionCost: v.Cost}
		}
		objects = append(objects, p)
	}
	var gone []string
	for _, r := range mustRollOut(t, viewOf(t, objects...), `"replicas":1,`).Removed {
		gone = append(gone, r.Name)
	}
	// Who is left is updated as the last one.
	return strings.Join(gone, " "), strings.Join(names, " ")
}
