package observe

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// labels are a set of labels as instruments take it, made once: a set is sorted and hashed, and a
// decision is counted under some eight.
type labels struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// labelSets keeps the sets of a kind by their values. The values are of the server's own making, so
// that they are few. It is safe for concurrent use.
type labelSets[K comparable] struct {
	attributes func(K) []attribute.KeyValue

	mu   sync.RWMutex
	sets map[K]*labels // guarded by mu
}

func newLabelSets[K comparable](attributes func(K) []attribute.KeyValue) *labelSets[K] {
	return &labelSets[K]{attributes: attributes, sets: map[K]*labels{}}
}

// of returns the set of some values.
func (s *labelSets[K]) of(values K) *labels {
	s.mu.RLock()
	l := s.sets[values]
	s.mu.RUnlock()
	if l != nil {
		return l
	}
	set := metric.WithAttributeSet(attribute.NewSet(s.attributes(values)...))
	l = &labels{[]metric.AddOption{set}, []metric.RecordOption{set}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sets[values] = l
	return l
}

// The values of the labels of requests, decisions and rejections.
type (
	requestLabels struct {
		route, method string
		status        int
	}
	decisionLabels  struct{ verb, outcome, profile string }
	rejectionLabels struct{ rule, code string }
)

// metricLabels are the sets that each request or decision is counted under.
type metricLabels struct {
	requests   *labelSets[requestLabels]
	decisions  *labelSets[decisionLabels]
	took       *labelSets[decisionLabels] // without their outcome
	rejections *labelSets[rejectionLabels]
	stages     *labelSets[string]
}

func newMetricLabels() metricLabels {
	return metricLabels{
		requests: newLabelSets(func(l requestLabels) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("http.route", l.route), attribute.String("http.request.method", l.method), attribute.Int("http.response.status_code", l.status)}
		}),
		decisions: newLabelSets(func(l decisionLabels) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("verb", l.verb), attribute.String("outcome", l.outcome), attribute.String("profile", l.profile)}
		}),
		took: newLabelSets(func(l decisionLabels) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("verb", l.verb), attribute.String("profile", l.profile)}
		}),
		rejections: newLabelSets(func(l rejectionLabels) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("rule", l.rule), attribute.String("code", l.code)}
		}),
		stages: newLabelSets(func(stage string) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("stage", stage)}
		}),
	}
}
