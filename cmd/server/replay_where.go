package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"berth/internal/replays"
	"berth/internal/store"
)

// remoteBatch runs at a server.
type remoteBatch struct{ base *url.URL }

func newRemoteBatch(server string) (*remoteBatch, error) {
	base, err := url.Parse(server)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("--server %q is no URL", server)
	}
	return &remoteBatch{base}, nil
}

// call sends JSON and reads JSON.
func (b *remoteBatch) call(ctx context.Context, method string, at *url.URL, in, out any) error {
	var body io.Reader
	if in != nil {
		js, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("write the request: %w", err)
		}
		body = bytes.NewReader(js)
	}
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return fmt.Errorf("--server: %w", err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token := os.Getenv("BERTH_TOKEN"); token != "" {
		ip := net.ParseIP(b.base.Hostname())
		if b.base.Scheme != "https" && b.base.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("BERTH_TOKEN would go to %s in clear text: use an https URL", b.base.Redacted())
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<30))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode >= 300 {
		var p struct {
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(answer, &p) // whatever it is, the status is told
		return fmt.Errorf("the server answered %s: %s", resp.Status, p.Detail)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

func (b *remoteBatch) start(ctx context.Context, q replays.Request) (*replays.Job, error) {
	in := map[string]string{"cluster": q.Cluster}
	for name, t := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !t.IsZero() {
			in[name] = t.UTC().Format(time.RFC3339Nano)
		}
	}
	if q.Profile != "" {
		in["profile"] = q.Profile
	}
	if q.Config != nil {
		in["config"] = string(q.Config)
	}
	var job replays.Job
	return &job, b.call(ctx, http.MethodPost, b.base.JoinPath("v1", "replays"), in, &job)
}

func (b *remoteBatch) get(ctx context.Context, id string) (*replays.Job, error) {
	var job replays.Job
	return &job, b.call(ctx, http.MethodGet, b.base.JoinPath("v1", "replays", id), nil, &job)
}

func (b *remoteBatch) differences(ctx context.Context, id string, limit int) ([]*replays.Difference, error) {
	var list struct {
		Items []*replays.Difference `json:"items"`
	}
	at := b.base.JoinPath("v1", "replays", id, "differences")
	at.RawQuery = url.Values{"limit": {strconv.Itoa(limit)}}.Encode()
	err := b.call(ctx, http.MethodGet, at, nil, &list)
	return list.Items, err
}

// interrupt cancels the batch: the server would go on by itself.
func (b *remoteBatch) interrupt(ctx context.Context, id string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var job replays.Job
	if err := b.call(ctx, http.MethodPost, b.base.JoinPath("v1", "replays", id, "cancel"), nil, &job); err != nil {
		return fmt.Sprintf("batch replay %s goes on at the server, since it could not be cancelled: %v", id, err)
	}
	return fmt.Sprintf("batch replay %s is %s after %d of %d decisions", id, job.State, job.Done, job.Total)
}

func (b *remoteBatch) close(context.Context) error {
	http.DefaultClient.CloseIdleConnections()
	return nil
}

// localBatch runs in this process, on the store itself. Other replicas of a shared store take part.
type localBatch struct {
	deps   *dependencies
	stop   func()
	resume string // the flags with which another process resumes the batch
}

func (c *replayCmd) localBatch(ctx context.Context, s streams) (*localBatch, error) {
	set := &settings{DataDir: c.DataDir, DatabaseURL: c.DatabaseURL, CheckpointEvery: 500}
	conf, err := set.profiles()
	if err != nil {
		return nil, err
	}
	log := newLogger(s.err, "auto", "warn")
	deps, err := openDependencies(ctx, set, conf, nil, nil, log)
	if err != nil {
		return nil, fmt.Errorf("%w (if a server is running, name it with --server)", err)
	}
	b := &localBatch{deps: deps, resume: "--data-dir " + c.DataDir}
	if c.DatabaseURL != "" {
		b.resume = "with the same --database-url"
	}
	b.stop = background(ctx, deps.replays.Work)
	return b, nil
}

func (b *localBatch) start(ctx context.Context, q replays.Request) (*replays.Job, error) {
	return b.deps.replays.Start(ctx, q)
}

func (b *localBatch) get(ctx context.Context, id string) (*replays.Job, error) {
	return b.deps.replays.Get(ctx, id)
}

func (b *localBatch) differences(ctx context.Context, id string, limit int) ([]*replays.Difference, error) {
	return b.deps.replays.Differences(ctx, id, store.ReplayCursor{}, limit)
}

func (b *localBatch) interrupt(_ context.Context, id string) string {
	return fmt.Sprintf("batch replay %s is interrupted and keeps what it has; a server goes on with it, or: server replay --resume %s %s", id, id, b.resume)
}

func (b *localBatch) close(ctx context.Context) error {
	b.stop()
	return b.deps.close(ctx)
}
