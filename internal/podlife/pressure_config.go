package podlife

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The kubelet's eviction signals of which a question may tell. Those of containerfs
// are always the ones of nodefs or imagefs, which the kubelet copies
// (pkg/kubelet/eviction helpers.go UpdateContainerFsThresholds).
const (
	memoryAvailable      = "memory.available"
	allocatableAvailable = "allocatableMemory.available"
	nodefsAvailable      = "nodefs.available"
	nodefsInodes         = "nodefs.inodesFree"
	imagefsAvailable     = "imagefs.available"
	imagefsInodes        = "imagefs.inodesFree"
	pidAvailable         = "pid.available"
)

// pressureSignals are all of them: memory goes first, and the order of the others
// is ours, since the kubelet has none.
var pressureSignals = []string{memoryAvailable, allocatableAvailable, nodefsAvailable, nodefsInodes, imagefsAvailable, imagefsInodes, pidAvailable}

// PressureSignals are the signals that a question may have.
func PressureSignals() []string { return slices.Clone(pressureSignals) }

// defaultEvictionHard are the thresholds of a kubelet that is not told any
// (pkg/kubelet/eviction defaults_linux.go).
var defaultEvictionHard = map[string]string{memoryAvailable: "100Mi", nodefsAvailable: "10%", nodefsInodes: "5%", imagefsAvailable: "15%", imagefsInodes: "5%"}

// EvictionConfig is what a kubelet is told about evictions, by the names of its
// configuration (KubeletConfiguration).
type EvictionConfig struct {
	// EvictionHard are thresholds such as {"memory.available": "100Mi"}; absent, the
	// kubelet's defaults count, and any that is given drops the others.
	EvictionHard map[string]string `json:"evictionHard,omitempty"`
	// EvictionSoft are thresholds that have to be met for evictionSoftGracePeriod.
	EvictionSoft            map[string]string `json:"evictionSoft,omitempty"`
	EvictionSoftGracePeriod map[string]string `json:"evictionSoftGracePeriod,omitempty"`
	// EvictionMinimumReclaim is what has to be free beyond a threshold that was met.
	EvictionMinimumReclaim map[string]string `json:"evictionMinimumReclaim,omitempty"`
	// EvictionPressureTransitionPeriod is how long a node condition stays; 5m if absent.
	EvictionPressureTransitionPeriod string `json:"evictionPressureTransitionPeriod,omitempty" example:"5m"`
	// EvictionMaxPodGracePeriod bounds the grace period of soft evictions.
	EvictionMaxPodGracePeriod int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// MergeDefaultEvictionSettings keeps the defaults that evictionHard does not name.
	MergeDefaultEvictionSettings bool `json:"mergeDefaultEvictionSettings,omitempty"`
} // @name EvictionConfig

// amount is a quantity, or a part of the capacity.
type amount struct {
	text     string
	quantity *resource.Quantity
	part     float32
}

// of is the amount for a capacity (pkg/kubelet/eviction/api types.go
// GetThresholdQuantity).
func (a amount) of(capacity resource.Quantity) resource.Quantity {
	if a.quantity != nil {
		return a.quantity.DeepCopy()
	}
	return *resource.NewQuantity(int64(float64(capacity.Value())*float64(a.part)), resource.BinarySI)
}

// threshold is one line that a signal must not fall below.
type threshold struct {
	signal  string
	value   amount
	soft    bool
	grace   time.Duration
	reclaim *amount
}

// hard thresholds are those without a grace period, also soft ones with 0
// (helpers.go isHardEvictionThreshold).
func (t *threshold) hard() bool { return t.grace == 0 }

// thresholds reads the configuration (pkg/kubelet/eviction helpers.go
// ParseThresholdConfig; cmd/kubelet/app/server.go for the defaults).
func (c *EvictionConfig) thresholds(at *field.Path) (out []threshold, transition time.Duration, errs field.ErrorList) {
	hard := c.EvictionHard
	switch {
	case hard == nil:
		hard = defaultEvictionHard
	case c.MergeDefaultEvictionSettings:
		hard = maps.Clone(defaultEvictionHard)
		maps.Copy(hard, c.EvictionHard)
	}
	reclaims := map[string]amount{}
	eachSignal(at.Child("evictionMinimumReclaim"), c.EvictionMinimumReclaim, &errs, func(signal, text string) string {
		a, why := readAmount(text)
		if why == "" && (a.quantity == nil && a.part <= 0) {
			why = "a percentage must be positive"
		}
		reclaims[signal] = a
		return why
	})
	graces := map[string]time.Duration{}
	eachSignal(at.Child("evictionSoftGracePeriod"), c.EvictionSoftGracePeriod, &errs, func(signal, text string) (why string) {
		graces[signal], why = shutdownDuration(text)
		if text == "" { // no default, unlike that of a field
			why = "want a duration such as 30s"
		}
		return why
	})
	read := func(name string, each map[string]string, soft bool) {
		eachSignal(at.Child(name), each, &errs, func(signal, text string) string {
			if text == "0%" || text == "100%" {
				return "" // switched off
			}
			a, why := readAmount(text)
			switch {
			case why != "":
			case a.quantity != nil && a.quantity.Sign() <= 0:
				why = "must be positive"
			case a.part > 1:
				why = "must not be more than 100%"
			}
			t := threshold{signal: signal, value: a, soft: soft}
			if r, ok := reclaims[signal]; ok {
				t.reclaim = &r
			}
			if soft && why == "" {
				grace, ok := graces[signal]
				if t.grace = grace; !ok {
					why = "it needs a period in evictionSoftGracePeriod"
				}
			}
			out = append(out, t)
			return why
		})
	}
	read("evictionHard", hard, false)
	read("evictionSoft", c.EvictionSoft, true)
	for _, t := range slices.Clone(out) {
		if t.signal == memoryAvailable && t.hard() {
			t.signal = allocatableAvailable // addAllocatableThresholds
			out = append(out, t)
		}
	}
	transition = 5 * time.Minute
	if text := c.EvictionPressureTransitionPeriod; text != "" {
		d, why := shutdownDuration(text)
		if transition = d; why != "" {
			errs = append(errs, field.Invalid(at.Child("evictionPressureTransitionPeriod"), text, why))
		}
		if transition == 0 {
			transition = 5 * time.Minute // a configuration's 0 is its default
		}
	}
	return out, transition, errs
}

// eachSignal visits the entries by signal, in the order of pressureSignals.
func eachSignal(at *field.Path, each map[string]string, errs *field.ErrorList, f func(signal, text string) (why string)) {
	for _, signal := range slices.Sorted(maps.Keys(each)) {
		if !slices.Contains(pressureSignals, signal) || signal == allocatableAvailable {
			*errs = append(*errs, field.NotSupported(at, signal, slices.DeleteFunc(slices.Clone(pressureSignals), func(s string) bool { return s == allocatableAvailable })))
		}
	}
	for _, signal := range pressureSignals {
		text, given := each[signal]
		if !given || signal == allocatableAvailable {
			continue
		}
		if why := f(signal, text); why != "" {
			*errs = append(*errs, field.Invalid(at.Key(signal), text, why))
		}
	}
}

func readAmount(text string) (a amount, why string) {
	a.text = text
	if number, percent := strings.CutSuffix(text, "%"); percent {
		n, err := strconv.ParseFloat(number, 32)
		if err != nil || n < 0 {
			return a, "want a percentage such as 10%, or a quantity such as 100Mi"
		}
		a.part = float32(n) / 100
		return a, ""
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		return a, "want a quantity such as 100Mi, or a percentage such as 10%"
	}
	a.quantity = &q
	return a, ""
}
