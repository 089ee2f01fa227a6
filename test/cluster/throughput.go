package main

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// throughput has kube-scheduler place the same pods several times: without an extender, with a
// no-op extender, with berth as its shadow, with berth's filter and scores, and with its binds too.
// What kube-scheduler chose beside the shadow is compared with what berth would have chosen, pod by
// pod.
func throughput(ctx context.Context, e *env) error {
	n := e.options.pods
	if err := e.nodes(ctx, e.options.nodes, 3, "32", "128Gi", nil); err != nil {
		return err
	}
	alone, err := e.rate(ctx, "alone", extender{}, nil)
	if err != nil {
		return err
	}
	e.figure("%d nodes, %d pods; without an extender %.0f pods/s", e.options.nodes, n, alone)
	noop, err := newNoop()
	if err != nil {
		return err
	}
	e.later(noop.close)
	protocol, err := e.rate(ctx, "noop", asking(noop.url()), nil)
	if err != nil {
		return err
	}
	e.figure("with an extender that lets everything pass unread %.0f pods/s, %.2f of that: what the protocol costs", protocol, protocol/alone)
	s, err := e.berth(nil)
	if err != nil {
		return err
	}
	var chosen []life
	shadow, err := e.rate(ctx, "shadow", asking(s.calls("shadow")), func() (err error) {
		chosen, err = e.watched(ctx, s, n)
		return err
	})
	if err != nil {
		return err
	}
	e.figure("with berth as its shadow %.0f pods/s, %.2f of what it is without one, %.2f of what the protocol allows", shadow, shadow/alone, shadow/protocol)
	filter, err := e.rate(ctx, "filter", asking(s.calls("")), nil)
	if err != nil {
		return err
	}
	e.figure("with berth's filter and scores %.0f pods/s, %.2f and %.2f", filter, filter/alone, filter/protocol)
	enforced, err := e.rate(ctx, "enforced", enforcing(s.calls("")), nil)
	if err != nil {
		return err
	}
	e.figure("with berth's filter, scores and binds %.0f pods/s, %.2f and %.2f", enforced, enforced/alone, enforced/protocol)
	var text string
	if err := s.call(ctx, "GET", "/metrics", nil, &text); err != nil {
		return err
	}
	for _, verb := range []string{"shadow/filter", "shadow/prioritize", "filter", "prioritize", "bind"} {
		h := buckets(text, "/clusters/{cluster}/"+verb)
		e.check(h.count() > 0, "no call of %s was counted", verb)
		e.figure("%-18s %5.0f calls, p50 %6.2f ms, p99 %6.2f ms", verb, h.count(), 1000*h.quantile(0.5), 1000*h.quantile(0.99))
	}
	b, err := e.bookkeeping(ctx, s, "")
	if err != nil {
		return err
	}
	e.check(b.byVerb["bind"] >= n && b.byVerb["filter"] >= 3*n, "too few records: %v", b.byVerb)
	shadows := 0
	for _, r := range b.records {
		if r.Mode == "shadow" {
			shadows++
		}
	}
	e.check(shadows >= 2*n, "%d records of shadows for %d pods", shadows, n)
	scores, err := bestByLog(filepath.Join(e.dir, "kube-scheduler.log"))
	if err != nil {
		return err
	}
	c, err := e.compare(ctx, s, b, chosen, scores)
	if err != nil {
		return err
	}
	c.tell(n+watched, watched)
	return nil
}

// watched is for how many pods more kube-scheduler writes down the scores of all
// nodes: some nine lines for each node and pod, which no measurement could bear.
const watched = 60

// watched adds those to n that are there, and gives all.
func (e *env) watched(ctx context.Context, s *server, n int) ([]life, error) {
	stop, err := e.schedule(full, asking(s.calls("shadow")), scoresInLog)
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := e.pods(ctx, "watched", watched, "100m", "128Mi", diverse); err != nil {
		return nil, err
	}
	if err := e.allBound(ctx, n+watched, 2*time.Minute); err != nil {
		return nil, err
	}
	return e.kubelets.alive(e.namespace), nil
}

// diverse are pods of three sizes, some of which would rather be in one zone than in
// others: nodes that are equal for one are not for the next.
func diverse(i int, p *corev1.Pod) {
	p.Spec.Containers[0].Resources.Requests = []corev1.ResourceList{list("100m", "128Mi"), list("250m", "256Mi"), list("100m", "1Gi")}[i%3]
	if i%4 == 1 {
		prefer(p, 20, "zone-1")
	}
}

// rate returns pods per second from the first that was created to the last that is bound, and takes
// the pods away after a last look at them. The processor time of that is in e.used.
func (e *env) rate(ctx context.Context, prefix string, x extender, look func() error) (float64, error) {
	stop, err := e.schedule(full, x)
	if err != nil {
		return 0, err
	}
	defer stop()
	n, began, before := e.options.pods, time.Now(), childrenCPU()
	if err := e.pods(ctx, prefix, n, "100m", "128Mi", diverse); err != nil {
		return 0, err
	}
	if err := e.allBound(ctx, n, 5*time.Minute); err != nil {
		return 0, err
	}
	e.used = childrenCPU().since(before)
	var last time.Time
	for _, l := range e.kubelets.of(e.namespace) {
		if l.bound.After(last) {
			last = l.bound
		}
		e.check(len(l.nodes) == 1, "pod %s was on %v", l.name, l.nodes)
	}
	stop()
	if look != nil {
		if err := look(); err != nil {
			return 0, err
		}
	}
	zero := int64(0)
	if err := e.client.CoreV1().Pods(e.namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &zero}, listAll); err != nil {
		return 0, err
	}
	if err := until(ctx, time.Minute, "pods gone", func() bool { return e.countBound() == 0 }); err != nil {
		return 0, err
	}
	return float64(n) / last.Sub(began).Seconds(), nil
}

// histogram is cumulative, by upper bound.
type histogram []struct{ le, n float64 }

// buckets reads the durations of a route's successful calls from berth's metrics.
func buckets(text, route string) (h histogram) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "http_server_request_duration_seconds_bucket{") || !strings.Contains(line, fmt.Sprintf("http_route=%q", route)) || !strings.Contains(line, `status_code="200"`) {
			continue
		}
		_, after, _ := strings.Cut(line, `le="`)
		bound, _, _ := strings.Cut(after, `"`)
		le, err1 := strconv.ParseFloat(bound, 64)
		n, err2 := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err1 == nil && err2 == nil {
			h = append(h, struct{ le, n float64 }{le, n})
		}
	}
	slices.SortFunc(h, func(a, b struct{ le, n float64 }) int {
		if a.le < b.le {
			return -1
		}
		return 1
	})
	return h
}

func (h histogram) count() float64 {
	if len(h) == 0 {
		return 0
	}
	return h[len(h)-1].n
}

// quantile interpolates within a bucket, as Prometheus does.
func (h histogram) quantile(q float64) float64 {
	want, low, before := q*h.count(), 0.0, 0.0
	for _, b := range h {
		if b.n >= want && b.n > before {
			if b.le > 1e6 {
				return low
			}
			return low + (b.le-low)*(want-before)/(b.n-before)
		}
		low, before = b.le, b.n
	}
	return low
}
