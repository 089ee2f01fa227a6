package admission

import (
	"strings"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
