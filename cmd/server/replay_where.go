package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"berth/internal/apiclient"
	"berth/internal/jobs/replays"
	"berth/internal/store"
)

// remoteBatch runs at a server.
type remoteBatch struct{ *apiclient.Client }

// caller returns a client for the server of --server. A single replay may take minutes.
func (c *replayCmd) caller() (*apiclient.Client, error) {
	return apiclient.New(apiclient.Options{
		Server: c.Server, Token: os.Getenv("BERTH_TOKEN"), TokenFile: c.TokenFile, CA: c.CA, Timeout: 6 * time.Minute,
	})
}

// call sends JSON and reads JSON.
func (b *remoteBatch) call(ctx context.Context, method string, query url.Values, in, out any, path ...string) error {
	answer, status, err := b.Call(ctx, method, query, in, path...)
	if status >= http.StatusBadRequest {
		return fmt.Errorf("the server answered %d: %w", status, err)
	}
	if err != nil {
		return err
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
	return &job, b.call(ctx, http.MethodPost, nil, in, &job, "v1", "replays")
}

func (b *remoteBatch) get(ctx context.Context, id string) (*replays.Job, error) {
	var job replays.Job
	return &job, b.call(ctx, http.MethodGet, nil, nil, &job, "v1", "replays", id)
}

func (b *remoteBatch) differences(ctx context.Context, id string, limit int) ([]*replays.Difference, error) {
	var list struct {
		Items []*replays.Difference `json:"items"`
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	err := b.call(ctx, http.MethodGet, query, nil, &list, "v1", "replays", id, "differences")
	return list.Items, err
}

// interrupt cancels the batch: the server would go on by itself.
func (b *remoteBatch) interrupt(ctx context.Context, id string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var job replays.Job
	if err := b.call(ctx, http.MethodPost, nil, nil, &job, "v1", "replays", id, "cancel"); err != nil {
		return fmt.Sprintf("batch replay %s goes on at the server, since it could not be cancelled: %v", id, err)
	}
	return fmt.Sprintf("batch replay %s is %s after %d of %d decisions", id, job.State, job.Done, job.Total)
}

func (b *remoteBatch) close(context.Context) error {
	b.HTTP.CloseIdleConnections()
	return nil
}

// localBatch runs in this process, on the store itself. Other replicas of a shared store take part.
type localBatch struct {
	deps   *dependencies
	stop   func()
	resume string // the flags with which another process resumes the batch
}

func (c *replayCmd) localBatch(ctx context.Context, s streams) (*localBatch, error) {
	set := &settings{DataDir: c.DataDir, DatabaseURL: c.DatabaseURL}
	conf, err := set.profiles()
	if err != nil {
		return nil, err
	}
	log := newLogger(s.err, "auto", "warn")
	deps, err := openDependencies(ctx, set, conf, nil, false, log)
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
