package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/memory"
)

// TestLongAnswersAreCounted: answers that hold many records, pods or objects take from the budget
// for each of them.
func TestLongAnswersAreCounted(t *testing.T) {
	h := start(t, nil)
	items := []string{node("n", "1")}
	const many = 300
	for i := range many {
		items = append(items, pod(fmt.Sprintf("w%d", i), "9", ""))
	}
	for i := range many { // garbage: their node is gone
		items = append(items, pod(fmt.Sprintf("g%d", i), "1", `,"nodeName":"gone"`))
	}
	h.upload("c", listOf(items...))
	h.upload("d", listOf(items[:2]...))
	for range 40 {
		h.want(http.StatusCreated, nil, "POST", "/v1/decisions", `{"snapshot":"c@latest","podRef":{"namespace":"shop","name":"w0"}}`)
	}
	for path, least := range map[string]int64{
		"/v1/decisions?cluster=c&limit=40":                   40 << 11,
		"/v1/decisions?limit=40":                             40 << 11,
		"/v1/decisions?cluster=c&after=0&limit=40":           40 << 11,
		"/v1/clusters/c/pods/shop/w0?suggest=false":          40 << 11,
		"/v1/clusters/c/queue":                               many * 700,
		"/v1/clusters/c/pending?suggest=false&limit=300":     many << 12,
		"/v1/clusters/c/classes":                             2 * many << 10,
		"/v1/snapshots?cluster=c":                            2 << 10,
		"/v1/snapshots/c@latest/diff?to=d@latest&limit=1000": many << 10,
	} {
		h.counts(least, "GET", path, "")
	}
	h.counts(many<<10, "POST", "/v1/clusters/c/garbage", "{}")
}

// counts wants a call to be refused where the budget is less than least, and to be answered where
// there is plenty.
func (h *harness) counts(least int64, method, path, body string) {
	h.Helper()
	defer func(b *memory.Budget) { h.api.Budget = b }(h.api.Budget)
	for limit, refused := range map[int64]bool{least: true, 64 << 20: false} {
		h.api.Budget = memory.New(limit)
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.api.Handler().ServeHTTP(w, r)
		if is := w.Code == http.StatusRequestEntityTooLarge || w.Code == http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "memory-budget="); is != refused || !is && w.Code != http.StatusOK {
			h.Errorf("%s within %d bytes: %d %.200s", path, limit, w.Code, w.Body)
		}
		if used := h.api.Budget.Used(); used != 0 {
			h.Errorf("%s: %d bytes are still taken", path, used)
		}
	}
}

// TestLongNamesAreCounted: what an answer repeats for each node takes from the budget, also where
// names have no bound, as those of a cluster that is followed.
func TestLongNamesAreCounted(t *testing.T) {
	const nodes, length = 100, 100 << 10
	h := start(t, func(o *admit.Options) { o.Limits.MaxNameBytes = 1 << 20 })
	items, names := []string{`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"lost","namespace":"shop"},"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"` + strings.Repeat("v", length) + `"}}`}, []string{}
	for i := range nodes {
		items, names = append(items, node(fmt.Sprintf("n%d", i), "1")), append(names, fmt.Sprintf("%q", fmt.Sprintf("n%d", i)))
	}
	h.upload("c", listOf(items...))
	long := strings.Repeat("a", length)
	for _, spec := range []string{
		`,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"` + long + `"}}]`,
		`,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"lost"}}]`,
		`,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"` + long + `","whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}]`,
	} {
		pod := pod("w", "1", spec)
		h.counts(nodes*length, "POST", "/v1/decisions", `{"snapshot":"c@latest","dryRun":true,"pod":`+pod+`}`)
		if strings.Contains(spec, "claimName\":\"aa") {
			h.counts(nodes*length, "POST", "/clusters/c/filter", `{"Pod":`+pod+`,"NodeNames":[`+strings.Join(names, ",")+`]}`)
		}
	}
}
