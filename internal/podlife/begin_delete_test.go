package podlife

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBeginDelete asks twice: a minute ago, and now.
func TestBeginDelete(t *testing.T) {
	for what, c := range map[string]struct {
		had  *int64 // the first period; nil: it was asked without one
		asks int64
		ends string // after now, and the period; empty: at once
	}{
		"shorter counts from the first": {new(int64(300)), 90, "30s 90"},
		"shorter, and over already":     {new(int64(300)), 5, "0s 1"},
		"negative is 1":                 {new(int64(300)), -7, "0s 1"},
		"longer changes nothing":        {new(int64(300)), 600, "4m0s 300"},
		"equal changes nothing":         {new(int64(300)), 300, "4m0s 300"},
		"none is left":                  {new(int64(300)), 0, ""},
		"it was asked without a period": {nil, 30, ""},
		"it was asked with none left":   {new(int64(0)), 30, ""},
	} {
		t.Run(what, func(t *testing.T) {
			first := hour.Add(-time.Minute)
			pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}}
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = new(metav1.NewTime(first)), c.had
			if c.had != nil && *c.had > 0 {
				pod.DeletionTimestamp.Time = first.Add(time.Duration(*c.had) * time.Second)
			}
			got := ""
			if p := BeginDelete(pod, c.asks, hour); p != nil {
				got = fmt.Sprint(p.DeletionTimestamp.Sub(hour), *p.DeletionGracePeriodSeconds)
			}
			is(t, "ends", got, c.ends)
		})
	}
}
