package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// profile describes which of kube-scheduler's own plugins are on.
type profile int

const (
	full         profile = iota // as it comes
	fitOnly                     // NodeResourcesFit, without which its preemption finds no victim
	extenderOnly                // none that filters or scores
)

// extender is how kube-scheduler is told of berth; none without a URL.
type extender struct {
	url                             string
	filter, prioritize, preempt     bool
	bind                            bool
	tlsCert, tlsKey, tlsCA, tlsName string
}

// asking is an extender with every verb except bind.
func asking(url string) extender {
	return extender{url: url, filter: true, prioritize: true, preempt: true}
}

// enforcing is an extender whose word counts in everything.
func enforcing(url string) extender {
	return extender{url: url, filter: true, prioritize: true, preempt: true, bind: true}
}

func (e extender) yaml() string {
	if e.url == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "extenders:\n- urlPrefix: %s\n  nodeCacheCapable: true\n  ignorable: false\n  httpTimeout: 5s\n  weight: 1\n", e.url)
	for verb, on := range map[string]bool{"filter": e.filter, "prioritize": e.prioritize, "preempt": e.preempt, "bind": e.bind} {
		if on {
			fmt.Fprintf(&b, "  %sVerb: %s\n", verb, verb)
		}
	}
	if e.tlsCert != "" {
		fmt.Fprintf(&b, "  enableHTTPS: true\n  tlsConfig: {certFile: %s, keyFile: %s, caFile: %s, serverName: %s}\n", e.tlsCert, e.tlsKey, e.tlsCA, e.tlsName)
	}
	return b.String()
}

func (p profile) yaml() string {
	if p == full {
		return "- schedulerName: default-scheduler\n"
	}
	out := `- schedulerName: default-scheduler
  plugins:
    multiPoint: {disabled: [{name: "*"}], enabled: [{name: PrioritySort}, {name: SchedulingGates}, {name: DefaultPreemption}, {name: DefaultBinder}]}
`
	if p == fitOnly {
		out += "    preFilter: {enabled: [{name: NodeResourcesFit}]}\n    filter: {enabled: [{name: NodeResourcesFit}]}\n"
	}
	return out
}

// startScheduler starts a kube-scheduler and waits until its caches are full.
func (c *control) startScheduler(dir string, p profile, e extender, flags ...string) (*process, error) {
	kubeconfig, config := filepath.Join(dir, "scheduler.kubeconfig"), filepath.Join(dir, "scheduler.yaml")
	if err := c.kubeconfig(kubeconfig, c.address); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %s, qps: 5000, burst: 5000}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
percentageOfNodesToScore: 100
profiles:
%s%s`, kubeconfig, p.yaml(), e.yaml())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	address, port, err := freePort()
	if err != nil {
		return nil, err
	}
	s, err := spawn(dir, "kube-scheduler", filepath.Join(c.bin, "kube-scheduler"), append([]string{
		"--config=" + config, "--secure-port=" + port, "--bind-address=127.0.0.1",
		"--cert-dir=" + filepath.Join(dir, "scheduler"), "--authentication-skip-lookup", "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
	}, flags...)...)
	if err != nil {
		return nil, err
	}
	// Its certificate is one that it made for itself a moment ago.
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	if err := s.await(30*time.Second, func() error { return ok(context.Background(), client, "https://"+address+"/readyz") }); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

func ok(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, res.Status)
	}
	return nil
}
