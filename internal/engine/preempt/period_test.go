package preempt_test

import (
	"testing"

	et "berth/test/enginetest"
)

// TestShortPeriods: a victim has the grace period that its pod declares.
func TestShortPeriods(t *testing.T) {
	for _, period := range []int64{0, 1, 5} {
		low := et.Pod("low", et.On("n"), cores("2"))
		low.Spec.TerminationGracePeriodSeconds = &period
		d := asked(t, et.Pod("p", et.Priority(100), cores("2")), sized("n", "2"), low)
		want(t, d, "n: low")
		if d.Preemption.Victims[0].GracePeriodSeconds != period {
			t.Errorf("period %d: %+v", period, d.Preemption)
		}
	}
}

// TestPeriodsOfVictims: the default period is 30 seconds. A victim that is terminating already
// keeps the period it was given.
func TestPeriodsOfVictims(t *testing.T) {
	minute := int64(60)
	going := et.Pod("going", et.On("n"), et.Terminating(), cores("1"))
	going.DeletionGracePeriodSeconds = &minute
	d := asked(t, et.Pod("p", et.Priority(100), cores("2")), sized("n", "2"), going, et.Pod("plain", et.On("n"), cores("1")))
	want(t, d, "n: going plain")
	if v := d.Preemption.Victims; v[0].GracePeriodSeconds != 60 || v[1].GracePeriodSeconds != 30 {
		t.Errorf("%+v", d.Preemption)
	}
}

// TestQualityOfServicePlaysNoPart: preemption does not consider QoS. A guaranteed pod
// of lower priority goes before one without requests, which would gain nothing, and
// before a burstable one of higher priority.
func TestQualityOfServicePlaysNoPart(t *testing.T) {
	guaranteed := et.Pod("guaranteed", et.On("n"), et.Priority(1), cores("1"))
	guaranteed.Spec.Containers[0].Resources.Limits = guaranteed.Spec.Containers[0].Resources.Requests
	d := asked(t, et.Pod("p", et.Priority(100), cores("1")), sized("n", "2"), guaranteed, et.Pod("burstable", et.On("n"), et.Priority(2), cores("1")), et.Pod("best-effort", et.On("n"), et.Priority(2)))
	want(t, d, "n: guaranteed")
}
