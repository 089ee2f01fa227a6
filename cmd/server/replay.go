package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"berth/internal/access"
	"berth/internal/decision/record"
)

type replayCmd struct {
	ID          string `arg:"" optional:"" help:"The decision's id; without one, --cluster selects the decisions."`
	Cluster     string `placeholder:"NAME" help:"Replay this cluster's decisions, limited by --since and --until."`
	Since       string `placeholder:"TIME" help:"Decisions at this time or later: 2026-01-31T12:00:00Z, or an age, such as 7d."`
	Until       string `placeholder:"TIME" help:"Decisions before this time, likewise."`
	Profile     string `placeholder:"NAME" help:"With --cluster: under this profile instead of the recorded ones."`
	Config      string `placeholder:"FILE" help:"With --cluster: under this KubeSchedulerConfiguration instead. With an id: the server's."`
	Resume      string `placeholder:"ID" help:"Continue an interrupted batch replay."`
	Server      string `placeholder:"URL" help:"Use a running server, such as http://127.0.0.1:8080, instead of opening the store. It reads the token in $$BERTH_TOKEN."`
	TokenFile   string `placeholder:"FILE" help:"With --server: file with the API token, instead of $$BERTH_TOKEN."`
	CA          string `name:"ca" placeholder:"FILE" help:"With --server: file with the CAs of its certificate, in PEM; by default those of the system."`
	DataDir     string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store, while no server has it open."`
	DatabaseURL string `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store."`
	Output      string `short:"o" default:"text" enum:"text,json" help:"Format of a batch's summary: text or json."`
}

// Run replays and prints the outcome as JSON. A difference ends with code 2.
func (c *replayCmd) Run(ctx context.Context, s streams) error {
	if c.ID == "" && c.Cluster == "" && c.Resume == "" {
		return errors.New("give a decision's id, or --cluster for all of a cluster's decisions")
	}
	if c.Cluster != "" || c.Resume != "" {
		return c.runBatch(ctx, s)
	}
	replay := c.local
	if c.Server != "" {
		replay = c.remote
	}
	out, err := replay(ctx, s)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, out, "", "  "); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if _, err := fmt.Fprintln(s.out, strings.TrimSpace(pretty.String())); err != nil {
		return err
	}
	var verdict struct {
		Identical bool `json:"identical"`
	}
	if err := json.Unmarshal(out, &verdict); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if !verdict.Identical {
		fmt.Fprintln(s.err, "different")
		return exitError(2)
	}
	fmt.Fprintln(s.err, "identical")
	return nil
}

func (c *replayCmd) local(ctx context.Context, s streams) (out []byte, err error) {
	set := &settings{DataDir: c.DataDir, DatabaseURL: c.DatabaseURL, Config: c.Config}
	conf, err := set.profiles()
	if err != nil {
		return nil, err
	}
	deps, err := openDependencies(ctx, set, conf, nil, false, newLogger(s.err, "auto", "warn"))
	if err != nil {
		return nil, fmt.Errorf("%w (if a server is running, name it with --server)", err)
	}
	defer func() { err = errors.Join(err, deps.close(ctx)) }()
	r, err := deps.log.Replay(access.With(ctx, access.Server(), "", ""), c.ID, record.Overrides{})
	if err != nil {
		return nil, err
	}
	if r.Differences == nil {
		r.Differences = []record.Difference{}
	}
	return json.Marshal(r)
}

func (c *replayCmd) remote(ctx context.Context, _ streams) ([]byte, error) {
	client, err := c.caller()
	if err != nil {
		return nil, err
	}
	var out json.RawMessage
	err = (&remoteBatch{client}).call(ctx, http.MethodPost, nil, nil, &out, "v1", "decisions", c.ID, "replay")
	return out, err
}
