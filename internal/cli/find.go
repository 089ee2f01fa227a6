package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// owners are the kinds that make pods, by the words that kubectl takes for them.
var owners = map[string]string{
	"deploy": "Deployment", "deployment": "Deployment", "deployments": "Deployment",
	"rs": "ReplicaSet", "replicaset": "ReplicaSet", "replicasets": "ReplicaSet",
	"sts": "StatefulSet", "statefulset": "StatefulSet", "statefulsets": "StatefulSet",
	"ds": "DaemonSet", "daemonset": "DaemonSet", "daemonsets": "DaemonSet",
	"rc": "ReplicationController", "replicationcontroller": "ReplicationController", "replicationcontrollers": "ReplicationController",
	"job": "Job", "jobs": "Job", "cj": "CronJob", "cronjob": "CronJob", "cronjobs": "CronJob",
}

// find turns the owner of pods into one of its pods that waits, the oldest. Any
// other target stays as it is.
func (a *app) find(ctx context.Context, from *source, t target) (target, error) {
	if t.owner == "" {
		return t, nil
	}
	about := fmt.Sprintf("%s %s", t.owner, t)
	var all, waiting []*item
	makes, err := makers(ctx, from, t)
	if err != nil {
		return t, err
	}
	err = from.objects(ctx, "Pod", func(o *item) error {
		if o.Metadata.Namespace != t.namespace || !makes(metav1.GetControllerOf(&o.Metadata)) {
			return nil
		}
		all = append(all, o)
		if o.waits() {
			waiting = append(waiting, o)
		}
		return nil
	})
	switch {
	case err != nil:
		return t, err
	case len(all) == 0:
		return t, &problem{what: about + " has no pods here", next: fmt.Sprintf("In another namespace: -n NAMESPACE. The pod that it would make: kubectl get %s -n %s %s -o json | %s explain -", strings.ToLower(t.owner), t.namespace, t.name, a.name)}
	case len(waiting) == 0:
		return t, &problem{what: fmt.Sprintf("%s has %s, none of which waits for a node", about, plural(len(all), "pod")), next: "Name one of them: " + someNames(namesOf(all))}
	}
	slices.SortStableFunc(waiting, func(x, y *item) int {
		return cmp.Or(x.Metadata.CreationTimestamp.Compare(y.Metadata.CreationTimestamp.Time), cmp.Compare(x.Metadata.Name, y.Metadata.Name))
	})
	found := waiting[0].target()
	if len(waiting) > 1 {
		fmt.Fprintf(a.Err, "%s: %s of %d pods wait; this is about %s\n", about, count(len(waiting)), len(all), found)
	}
	return found, nil
}

// makers tells which controllers' pods are an owner's: its own, those of a
// Deployment's ReplicaSets, or of a CronJob's Jobs. Jobs are not kept, so a
// CronJob's are known by their names, which end in minutes since 1970
// (pkg/controller/cronjob utils.go getJobName).
func makers(ctx context.Context, from *source, t target) (func(*metav1.OwnerReference) bool, error) {
	switch t.owner {
	case "Deployment":
		sets := map[string]bool{}
		err := from.objects(ctx, "ReplicaSet", func(o *item) error {
			c := metav1.GetControllerOf(&o.Metadata)
			if o.Metadata.Namespace == t.namespace && c != nil && c.Kind == t.owner && c.Name == t.name {
				sets[o.Metadata.Name] = true
			}
			return nil
		})
		return func(c *metav1.OwnerReference) bool { return c != nil && c.Kind == "ReplicaSet" && sets[c.Name] }, err
	case "CronJob":
		return func(c *metav1.OwnerReference) bool {
			if c == nil || c.Kind != "Job" {
				return false
			}
			at := strings.LastIndexByte(c.Name, '-')
			return at >= 0 && c.Name[:at] == t.name && strings.Trim(c.Name[at+1:], "0123456789") == ""
		}, nil
	}
	return func(c *metav1.OwnerReference) bool { return c != nil && c.Kind == t.owner && c.Name == t.name }, nil
}

func namesOf(list []*item) []string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = o.Metadata.Name
	}
	return names
}

// meant returns what to do about a pod that is not there: most often the namespace is
// another, or the name is not whole.
func meant(ctx context.Context, from *source, t target, p *problem) error {
	var near, elsewhere []string
	err := from.objects(ctx, "Pod", func(o *item) error {
		switch {
		case o.Metadata.Namespace == t.namespace && strings.HasPrefix(o.Metadata.Name, t.name):
			near = append(near, o.Metadata.Name)
		case o.Metadata.Name == t.name:
			elsewhere = append(elsewhere, o.Metadata.Namespace)
		}
		return nil
	})
	switch {
	case err != nil:
		return p
	case len(elsewhere) > 0:
		p.next = fmt.Sprintf("There is one of that name in another namespace: -n %s.", elsewhere[0])
	case len(near) > 0:
		p.next = fmt.Sprintf("Did you mean %s?", someNames(near))
	}
	return p
}
