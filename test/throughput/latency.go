//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/internal/config"
	"berth/internal/handlers"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
)

// latencies prints how long one caller waits over HTTP, alone and in company.
func (h *system) latencies(ctx context.Context, o options) error {
	api, err := handlers.New(admit.Options{Clusters: h.m, Decisions: h.log, ParseProfiles: config.Parse, Limits: limits.Default()})
	if err != nil {
		return err
	}
	s := httptest.NewServer(api.Handler())
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	defer client.CloseIdleConnections()
	for _, name := range []string{lightCluster, realCluster} {
		body := `{"snapshot":"` + name + `@latest","explain":"none","pod":` + podJSON + `}`
		for _, others := range []int{0, o.Callers} {
			rate, took, err := company(ctx, client, s.URL, body, others, o.For)
			if err != nil {
				return err
			}
			fmt.Printf("  one call over HTTP (%s), %2d others in flight: p50 %.2f ms, p99 %.2f ms; %.0f calls/s in all\n", name, others, millis(took[len(took)/2]), millis(took[len(took)*99/100]), rate)
		}
	}
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// company measures one caller while others call too.
func company(ctx context.Context, client *http.Client, url, body string, others int, while time.Duration) (rate float64, took []time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	counts := make([]int, others+1)
	for i := range others {
		all.Go(func() {
			for ctx.Err() == nil {
				if call(ctx, client, url, body) == nil {
					counts[i]++
				}
			}
		})
	}
	began := time.Now()
	for time.Since(began) < while && err == nil {
		start := time.Now()
		err = call(ctx, client, url, body)
		took = append(took, time.Since(start))
		counts[others]++
	}
	spent := time.Since(began)
	cancel()
	all.Wait()
	n := 0
	for _, c := range counts {
		n += c
	}
	slices.Sort(took)
	return float64(n) / spent.Seconds(), took, err
}

func call(ctx context.Context, client *http.Client, url, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/decisions", strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	out, err := io.ReadAll(res.Body)
	if closeErr := res.Body.Close(); err == nil {
		err = closeErr
	}
	if err == nil && res.StatusCode != http.StatusCreated {
		err = fmt.Errorf("status %d: %s", res.StatusCode, out)
	}
	return err
}
