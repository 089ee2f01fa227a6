package apiserver_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/apiserver"
	"berth/internal/kube/object/stored"
)

func class(name string, value int32) *schedulingv1.PriorityClass {
	c := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "7"}, Value: value}
	stored.DefaultClass(c)
	return c
}

// lines writes errors as field type message.
func lines(errs field.ErrorList) []string {
	out := []string{}
	for _, e := range errs {
		out = append(out, strings.Join([]string{e.Field, string(e.Type), e.ErrorBody()}, " "))
	}
	return out
}

func TestClassCreate(t *testing.T) {
	odd := corev1.PreemptionPolicy("Odd")
	none := corev1.PreemptionPolicy("")
	for _, c := range []struct {
		name   string
		class  *schedulingv1.PriorityClass
		change func(*schedulingv1.PriorityClass)
		want   []string
	}{
		{"the highest value", class("high", 1_000_000_000), nil, []string{}},
		{"a negative value", class("low", -2_147_483_648), nil, []string{}},
		{"above the highest", class("high", 1_000_000_001), nil, []string{"value FieldValueForbidden Forbidden: maximum allowed value of a user defined priority is 1000000000"}},
		{"a reserved name", class("system-mine", 1), nil, []string{
			"metadata.name FieldValueForbidden Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
		}},
		{"a reserved name is judged before the value", class("system-mine", 2_000_000_000), nil, []string{
			"metadata.name FieldValueForbidden Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
		}},
		{"a built-in class", class("system-node-critical", 2_000_001_000), nil, []string{}},
		{"a built-in class of another value", class("system-node-critical", 5), nil, []string{
			"metadata.name FieldValueForbidden Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000",
		}},
		{"a built-in class as the default", class("system-node-critical", 2_000_001_000), func(c *schedulingv1.PriorityClass) { c.GlobalDefault = true }, []string{
			"metadata.name FieldValueForbidden Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: globalDefault of system-node-critical PriorityClass must be false",
		}},
		{"no name", class("", 1), nil, []string{"metadata.name FieldValueRequired Required value: name or generateName is required"}},
		{"an unknown policy", class("high", 1), func(c *schedulingv1.PriorityClass) { c.PreemptionPolicy = &odd }, []string{
			`preemptionPolicy FieldValueNotSupported Unsupported value: "Odd": supported values: "PreemptLowerPriority", "Never"`,
		}},
		{"an empty policy", class("high", 1), func(c *schedulingv1.PriorityClass) { c.PreemptionPolicy = &none }, []string{"preemptionPolicy FieldValueRequired Required value"}},
	} {
		if c.change != nil {
			c.change(c.class)
		}
		if d := cmp.Diff(c.want, lines(apiserver.ValidateClass(c.class))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	if errs := apiserver.ValidateClass(class("High Five", 1)); len(errs) != 1 || errs[0].Field != "metadata.name" || errs[0].Type != field.ErrorTypeInvalid {
		t.Errorf("no DNS name: %v", errs)
	}
}

func TestClassUpdate(t *testing.T) {
	never := corev1.PreemptNever
	for _, c := range []struct {
		name   string
		change func(*schedulingv1.PriorityClass)
		want   []string
	}{
		{"what may change", func(c *schedulingv1.PriorityClass) {
			c.GlobalDefault, c.Description, c.Labels = true, "new", map[string]string{"a": "b"}
		}, []string{}},
		{"value", func(c *schedulingv1.PriorityClass) { c.Value++ }, []string{"value FieldValueForbidden Forbidden: may not be changed in an update."}},
		{"policy", func(c *schedulingv1.PriorityClass) { c.PreemptionPolicy = &never }, []string{`preemptionPolicy FieldValueInvalid Invalid value: "Never": field is immutable`}},
		{"no version", func(c *schedulingv1.PriorityClass) { c.ResourceVersion = "" }, []string{`metadata.resourceVersion FieldValueInvalid Invalid value: "": must be specified for an update`}},
	} {
		old, now := class("high", 1), class("high", 1)
		c.change(now)
		if d := cmp.Diff(c.want, lines(apiserver.ValidateClassUpdate(now, old))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
