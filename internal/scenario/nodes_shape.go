package scenario

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/decision"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
)

// NodeShape is what new nodes have otherwise than the node or template that they are made of; all
// that they have where there is neither.
type NodeShape struct {
	// Zone is the value of topology.kubernetes.io/zone, and of other labels that name a zone as it.
	Zone string `json:"zone,omitempty" example:"eu-1c"`
	// Labels are put over those that there are.
	Labels map[string]string `json:"labels,omitempty"`
	// Taints replace all that there are; an empty list takes them away.
	Taints []corev1.Taint `json:"taints,omitempty" swaggertype:"array,object"`
	// Resources replace allocatable amounts: cpu, memory, pods, ephemeral-storage, hugepages-SIZE
	// and extended resources. Nodes of no node and no template have 110 pods if it does not say.
	Resources corev1.ResourceList `json:"resources,omitempty" swaggertype:"object,string"`
} // @name ScenarioNodeShape

// defaultPods is how many pods a kubelet takes by default (pkg/kubelet/apis/config/v1beta1
// SetDefaults_KubeletConfiguration).
const defaultPods = 110

// empty reports whether nodes are as they are.
func (n *NodeShape) empty() bool {
	return n.Zone == "" && len(n.Labels) == 0 && n.Taints == nil && len(n.Resources) == 0
}

// of names the node or template that a request has, or that the shape is enough without one.
func (a *AddNodes) of(field string) error {
	switch like, template := a.Like != "", !isNull(a.Template); {
	case like && template:
		return decision.Errorf(decision.Malformed, field, "want either like or a template, not both")
	case !like && !template && len(a.Resources) == 0:
		return decision.Errorf(decision.Malformed, field, "want like, a template or resources")
	}
	return a.check(field)
}

// Set sets one thing as people write it: zone=eu-1c, label=disk=ssd, taint=team=db:NoSchedule,
// cpu=8. A key with a domain is a label where its value is no amount. It returns what is wanted
// where the key or the form is wrong.
func (n *NodeShape) Set(key, value string) (want string, err error) {
	switch key {
	case "zone":
		n.Zone = value
	case "label":
		name, of, ok := strings.Cut(value, "=")
		if !ok {
			return "label=KEY=VALUE", nil
		}
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[name] = of
	case "taint":
		what, effect, ok := strings.Cut(value, ":")
		if !ok {
			return "taint=KEY=VALUE:EFFECT", nil
		}
		t := corev1.Taint{Effect: corev1.TaintEffect(effect)}
		t.Key, t.Value, _ = strings.Cut(what, "=")
		n.Taints = append(n.Taints, t)
	default:
		domain := strings.Contains(key, "/")
		if !domain && !strings.HasPrefix(key, "hugepages-") && !slices.Contains(ownResources, key) {
			return "zone, label, taint, a resource such as cpu, each with =", nil
		}
		amount, err := resource.ParseQuantity(value)
		if err != nil && domain && value != "" {
			return n.Set("label", key+"="+value)
		}
		if n.Resources == nil {
			n.Resources = corev1.ResourceList{}
		}
		n.Resources[corev1.ResourceName(key)] = amount
		return "", err //nolint:wrapcheck // who asks names the key
	}
	return "", nil
}

// ownResources are the resources without a domain.
var ownResources = []string{"cpu", "memory", "pods", "ephemeral-storage"}

// check refuses what no node can have, by the name of its field.
func (n *NodeShape) check(where string) error {
	node := n.on(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	for _, name := range slices.Sorted(maps.Keys(n.Resources)) {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage:
		default:
			if !state.IsScalar(name) {
				return decision.Errorf(decision.Invalid, where+".resources", "%.253q is no resource of nodes: want cpu, memory, pods, ephemeral-storage, hugepages-SIZE or an extended one such as example.com/gpu", name)
			}
		}
	}
	at := field.NewPath(where)
	if bad := validation.IsValidLabelValue(n.Zone); len(bad) > 0 {
		return decision.Errorf(decision.Invalid, where+".zone", "%s", bad[0])
	}
	if bad := metav1validation.ValidateLabels(n.Labels, at.Child("labels")); len(bad) > 0 {
		return decision.Errorf(decision.Invalid, bad[0].Field, "%s", bad[0].ErrorBody())
	}
	for _, bad := range stored.Validate(node) {
		own := strings.NewReplacer("metadata.taints", "taints", "status.allocatable", "resources", "status.capacity", "resources").Replace(bad.Field)
		return decision.Errorf(decision.Invalid, where+"."+own, "%s", bad.ErrorBody())
	}
	return nil
}

// on returns a node that is otherwise as another one.
func (n *NodeShape) on(node *corev1.Node) *corev1.Node {
	if n.empty() {
		return node
	}
	node = node.DeepCopy()
	if n.Zone != "" {
		node.Labels = suggest.InZone(node.Labels, n.Zone)
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	maps.Copy(node.Labels, n.Labels)
	if n.Taints != nil {
		node.Spec.Taints = n.Taints
	}
	for _, list := range []*corev1.ResourceList{&node.Status.Allocatable, &node.Status.Capacity} {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		maps.Copy(*list, n.Resources)
	}
	return node
}

// bare returns a node of nothing but the shape.
func (n *NodeShape) bare(name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(defaultPods, resource.DecimalSI)}
	node.Status.Capacity = maps.Clone(node.Status.Allocatable)
	return n.on(node)
}
