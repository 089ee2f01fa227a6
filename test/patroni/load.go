//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// answer is a decision that was answered, with the revision that its bind made.
type answer struct {
	ID            string
	BoundSnapshot string
	at            time.Time
}

// load is clients that decide and bind pods of their own, one after the other.
type load struct {
	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex
	answers  []answer
	refused  map[int]int // by status; 0: no answer
	misled   []string    // answers that would have a caller overwrite the cluster
	outage   time.Duration
	answered []time.Time // the last answer, by server
}

func startLoad(ctx context.Context, servers []*berth, clients int) *load {
	ctx, stop := context.WithCancel(ctx)
	l := &load{stop: stop, refused: map[int]int{}, answered: make([]time.Time, len(servers))}
	for i := range clients {
		at := i % len(servers)
		l.done.Go(func() {
			c := &http.Client{Timeout: 10 * time.Second}
			defer c.CloseIdleConnections()
			for n := 0; ctx.Err() == nil; n++ {
				l.call(c, servers[at], at, fmt.Sprintf("p-%d-%d", i, n))
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	return l
}

// call decides and binds one pod, and notes what was said.
func (l *load) call(c *http.Client, s *berth, at int, pod string) {
	body := fmt.Sprintf(`{"snapshot":"load@latest","bind":true,"pod":{"metadata":{"name":%q,"namespace":"d"},`+
		`"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1m"}}}]}}}`, pod)
	resp, err := c.Post(s.url()+"/v1/decisions", "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		l.mu.Lock()
		l.refused[0]++
		l.mu.Unlock()
		return
	}
	said, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	var a answer
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.refused[0]++
	case resp.StatusCode != http.StatusCreated:
		l.refused[resp.StatusCode]++
		if strings.Contains(string(said), "upload one") || resp.StatusCode == http.StatusNotFound {
			l.misled = append(l.misled, string(said))
		}
	case json.Unmarshal(said, &a) != nil || a.ID == "" || a.BoundSnapshot == "":
		l.misled = append(l.misled, string(said))
	default:
		a.at = time.Now()
		l.answers = append(l.answers, a)
		if last := l.answered[at]; !last.IsZero() {
			l.outage = max(l.outage, a.at.Sub(last))
		}
		l.answered[at] = a.at
	}
}

// count is how many answers each server has given since a time.
func (l *load) since(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.answered {
		if !at.After(t) {
			return false
		}
	}
	return true
}

// end lets the calls on their way end.
func (l *load) end() {
	l.stop()
	l.done.Wait()
}
