package admin

import (
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// hiddenText stands for a text that may hold names.
const hiddenText = "hidden"

// aliases stand for names: the same one for the same name as long as the process runs. The zero
// value is ready for use.
type aliases struct {
	mu     sync.Mutex
	byName map[[2]string]string // by kind and name; guarded by mu
	counts map[string]int       // by kind; guarded by mu
}

// of returns the alias of a name, such as cluster-1.
func (a *aliases) of(kind, name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byName == nil {
		a.byName, a.counts = map[[2]string]string{}, map[string]int{}
	}
	key := [2]string{kind, name}
	if a.byName[key] == "" {
		a.counts[kind]++
		a.byName[key] = fmt.Sprintf("%s-%d", kind, a.counts[kind])
	}
	return a.byName[key]
}

// plainLabels are the labels of metrics whose values are berth's own words or Go's.
var plainLabels = []string{
	"backend", "cause", "code", "goversion", "http_request_method", "http_response_status_code", "http_route", "level", "listener",
	"method", "operation", "outcome", "quantile", "queue", "result", "revision", "route", "rule", "semantics", "stage", "state",
	"table", "verb", "version",
}

// gatherer returns what g gathers, with aliases for the values of labels that may be names.
func (a *aliases) gatherer(g prometheus.Gatherer) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := g.Gather()
		for _, f := range families {
			for _, m := range f.Metric {
				m.Label = slices.Clone(m.Label) // which are the registry's own
				for i, l := range m.Label {
					if name := l.GetName(); !slices.Contains(plainLabels, name) {
						m.Label[i] = &dto.LabelPair{Name: &name, Value: new(a.of(name, l.GetValue()))}
					}
				}
			}
		}
		return families, err
	})
}
