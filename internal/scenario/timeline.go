package scenario

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/world"
)

// Concern is which moments of a timeline are meant. Empty fields mean all.
type Concern struct {
	// Pods are named as in moments, as namespace/name.
	Pods []string
	Node string
	// Workload is a controller as Kind/name. For a Deployment the pods of its ReplicaSets count,
	// for which Set looks up those that a snapshot has; nil: they are known by their names.
	Workload  string
	Namespace string
	Set       func(namespace, name string) *appsv1.ReplicaSet
	What      []string
	// Since and Until are seconds, the latter exclusive and 0 for no end.
	Since, Until int64
}

// Meant reports whether a moment is one of them.
func (c *Concern) Meant(m *world.Moment) bool {
	ns, _, _ := strings.Cut(m.Pod, "/")
	switch {
	case m.AfterSeconds < c.Since, c.Until > 0 && m.AfterSeconds >= c.Until:
	case len(c.Pods) > 0 && !slices.Contains(c.Pods, m.Pod):
	case c.Node != "" && c.Node != m.Node:
	case c.Namespace != "" && m.Pod != "" && c.Namespace != ns:
	case len(c.What) > 0 && !slices.Contains(c.What, m.What):
	case c.Workload != "" && !c.owns(cmp.Or(ns, c.Namespace), m.Owner):
	default:
		return true
	}
	return false
}

// owns reports whether an owner is the workload, or a ReplicaSet of it: one that is stored says
// whose it is, another one is a Deployment's where its name is made as the Deployment's controller
// makes it (pkg/controller/deployment/sync.go getNewReplicaSet).
func (c *Concern) owns(namespace, owner string) bool {
	if owner == c.Workload {
		return true
	}
	deployment, is := strings.CutPrefix(c.Workload, "Deployment/")
	set, of := strings.CutPrefix(owner, "ReplicaSet/")
	if !is || !of {
		return false
	}
	if c.Set != nil {
		if rs := c.Set(namespace, set); rs != nil {
			top := metav1.GetControllerOfNoCopy(rs)
			return top != nil && top.Kind == "Deployment" && top.Name == deployment
		}
	}
	hash, cut := strings.CutPrefix(set, deployment+"-")
	return cut && hash != "" && len(hash) <= 10 && strings.Trim(hash, hashLetters) == ""
}

// hashLetters are those of a pod-template-hash (k8s.io/apimachinery/pkg/util/rand
// SafeEncodeString).
const hashLetters = "bcdfghjklmnpqrstvwxz2456789"

// Page returns the moments that are meant behind a place in a timeline, at most limit of them, and
// the place to go on from; 0: there are no more.
func (c *Concern) Page(list []world.Moment, from, limit int) (out []world.Moment, next int) {
	out = []world.Moment{}
	for i := from; i < len(list); i++ {
		if !c.Meant(&list[i]) {
			continue
		}
		if len(out) == limit {
			return out, i
		}
		out = append(out, list[i])
	}
	return out, 0
}

// whats are the things that happen in timelines, as Moment.What lists them.
var whats = func() []string {
	f, _ := reflect.TypeFor[world.Moment]().FieldByName("What")
	return strings.Split(f.Tag.Get("enums"), ",")
}()

// CheckWhat refuses what happens in no timeline.
func CheckWhat(field string, list []string) error {
	for _, w := range list {
		if !slices.Contains(whats, w) {
			return decision.Errorf(decision.Malformed, field, "%.60q happens in no timeline: want of %s", w, strings.Join(whats, ", "))
		}
	}
	return nil
}

// TimelineOf reads the timeline of an answer in JSON, and how many moments it lacks at the end; ok
// is false where the question wanted none.
func TimelineOf(answer []byte) (t Told, ok bool, err error) {
	var of struct {
		Told
		Clock *Told `json:"clock"`
	}
	if err := json.Unmarshal(answer, &of); err != nil {
		return t, false, fmt.Errorf("timeline of an answer: %w", err)
	}
	if of.Clock != nil {
		return *of.Clock, true, nil
	}
	return of.Told, of.Timeline != nil, nil
}

// Seconds reads a time since the start of a scenario: a duration such as 5m30s, or seconds.
func Seconds(field, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		var d time.Duration
		if d, err = time.ParseDuration(text); err == nil && d%time.Second == 0 {
			n = int64(d / time.Second)
		} else {
			n = -1
		}
	}
	if n < 0 || n > mostSeconds {
		return 0, decision.Errorf(decision.Malformed, field, "want a time since the start in whole seconds, such as 5m30s or 330, at most %d", int64(mostSeconds))
	}
	return n, nil
}
