package priorityclass

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/kube/object/stored"
	"berth/internal/store"
)

// decode makes the class of a record.
func decode(row *store.PriorityClass) (*schedulingv1.PriorityClass, error) {
	c := &schedulingv1.PriorityClass{}
	if err := json.Unmarshal(row.Payload, c); err != nil {
		return nil, fmt.Errorf("priority class %s of cluster %s: %w", row.Name, row.Cluster, err)
	}
	c.ResourceVersion = strconv.FormatInt(row.Version, 10)
	return c, nil
}

// known is what decisions read of a class, which is all that is kept of it in memory.
func known(row *store.PriorityClass) *schedulingv1.PriorityClass {
	policy := corev1.PreemptionPolicy(row.PreemptionPolicy)
	return &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: row.Name},
		Value:      row.Value, GlobalDefault: row.GlobalDefault, PreemptionPolicy: &policy,
	}
}

// encode makes the record of a class.
func encode(cluster string, c *schedulingv1.PriorityClass) (*store.PriorityClass, error) {
	bare := *c
	bare.ResourceVersion = ""
	js, err := json.Marshal(&bare)
	if err != nil {
		return nil, fmt.Errorf("encode priority class: %w", err)
	}
	return &store.PriorityClass{
		Cluster: cluster, Name: c.Name, Value: c.Value, GlobalDefault: c.GlobalDefault,
		PreemptionPolicy: string(*c.PreemptionPolicy), Payload: js,
	}, nil
}

// space is the namespace of derived UIDs: a built-in class has the same on
// every replica.
var space = uuid.MustParse("6ba7b812-9dad-11d1-80b4-00c04fd430c8")

// builtIn returns a built-in class as clients see it. berth knows no time at which
// a cluster began, so it has no creationTimestamp.
func builtIn(cluster, name string) *schedulingv1.PriorityClass {
	c := stored.SystemClass(name)
	c.UID = types.UID(uuid.NewSHA1(space, []byte("berth/"+cluster+"/priorityclasses/"+name)).String())
	c.ResourceVersion = "1"
	return c
}

// listOf makes a list, in which the built-in classes have their places.
func listOf(cluster string, rows []*store.PriorityClass, version int64) (*schedulingv1.PriorityClassList, error) {
	list := &schedulingv1.PriorityClassList{
		TypeMeta: metav1.TypeMeta{Kind: "PriorityClassList", APIVersion: schedulingv1.SchemeGroupVersion.String()},
		ListMeta: metav1.ListMeta{ResourceVersion: strconv.FormatInt(max(version, 1), 10)},
	}
	for _, c := range stored.SystemClasses() {
		list.Items = append(list.Items, *builtIn(cluster, c.Name))
	}
	for _, s := range rows {
		c, err := decode(s)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, *c)
	}
	slices.SortFunc(list.Items, func(a, b schedulingv1.PriorityClass) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// reduce leaves of a class what berth keeps. Owners, finalizers and managers of
// fields mean nothing here; what kubectl applied last is a copy of the object
// and of whatever else was in the file.
func reduce(c *schedulingv1.PriorityClass) *schedulingv1.PriorityClass {
	out := &schedulingv1.PriorityClass{
		Value: c.Value, GlobalDefault: c.GlobalDefault, Description: c.Description, PreemptionPolicy: c.PreemptionPolicy,
	}
	out.Name, out.GenerateName, out.Labels = c.Name, c.GenerateName, c.Labels
	for k, v := range c.Annotations {
		if k == corev1.LastAppliedConfigAnnotation {
			continue
		}
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[k] = v
	}
	stored.DefaultClass(out)
	return out
}
