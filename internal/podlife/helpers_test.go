package podlife

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.UTC)

// lines writes errors as field type message.
func lines(errs field.ErrorList) []string {
	out := []string{}
	for _, e := range errs {
		out = append(out, strings.Join([]string{e.Field, string(e.Type), e.ErrorBody()}, " "))
	}
	return out
}
