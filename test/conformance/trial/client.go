// Package trial puts cases to a running berth, compares its answers with
// upstream's verdicts and makes differing cases small.
package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"berth/test/conformance/oracle"
)

// Client asks one berth over HTTP. Each client uses a cluster of its own, so
// that several may work side by side.
type Client struct {
	Server  string // base URL without a slash at its end
	Cluster string
	HTTP    http.Client
	// All requests every filter that rejects a node, and compares each with
	// upstream's when it is run on its own.
	All bool
	// Semantics is the release of Kubernetes that berth is to answer as; empty: its default.
	Semantics string
}

// NewClient returns a client with a timeout, so that a berth that hangs is a
// difference and not a run without end.
func NewClient(server, cluster string) *Client {
	return &Client{Server: server, Cluster: cluster, HTTP: http.Client{Timeout: 30 * time.Second}}
}

// Answer is what is compared of berth's answer.
type Answer struct {
	Outcome string   `json:"outcome"`
	Node    string   `json:"node"`
	Message string   `json:"message"`
	Gates   []string `json:"gates"`
	// NominatedNode and Preemption are absent where no victims were looked for.
	NominatedNode string            `json:"nominatedNode"`
	Preemption    *PreemptionAnswer `json:"preemption"`
	Best          []string          `json:"best"`
	Devices       []DeviceAnswer    `json:"devices"`
	Nodes         []NodeAnswer      `json:"nodes"`
	// NotEvaluated are the plugins that had something to judge and did not.
	NotEvaluated []struct {
		Plugin string `json:"plugin"`
	} `json:"notEvaluated"`
	Counts struct {
		Nodes    int `json:"nodes"`
		Feasible int `json:"feasible"`
	} `json:"counts"`
}

// DeviceAnswer is a device that the pod would get on the chosen node.
type DeviceAnswer struct {
	Claim   string `json:"claim"`
	Request string `json:"request"`
	Driver  string `json:"driver"`
	Pool    string `json:"pool"`
	Device  string `json:"device"`
}

// PreemptionAnswer is berth's search for victims.
type PreemptionAnswer struct {
	Eligible   bool              `json:"eligible"`
	Reason     string            `json:"reason"`
	Candidates []CandidateAnswer `json:"candidates"`
}

// CandidateAnswer is a node on which berth would evict pods.
type CandidateAnswer struct {
	Node             string       `json:"node"`
	Victims          []oracle.Key `json:"victims"`
	NumPDBViolations int64        `json:"numPDBViolations"`
}

// NodeAnswer is berth's answer about one node.
type NodeAnswer struct {
	Name     string        `json:"name"`
	Feasible bool          `json:"feasible"`
	Score    int64         `json:"score"`
	Scores   []ScoreAnswer `json:"scores"`
	Plugin   string        `json:"plugin"`
	Code     string        `json:"code"`
	Reasons  []string      `json:"reasons"`
	// AlsoFailing and NotJudged are the other filters that reject the node, or
	// cannot judge it.
	AlsoFailing []struct {
		Plugin  string   `json:"plugin"`
		Code    string   `json:"code"`
		Reasons []string `json:"reasons"`
	} `json:"alsoFailing"`
	NotJudged []struct {
		Plugin string `json:"plugin"`
	} `json:"notJudged"`
}

// ScoreAnswer is one plugin's score of one node.
type ScoreAnswer struct {
	Plugin     string `json:"plugin"`
	Raw        int64  `json:"raw"`
	Normalized int64  `json:"normalized"`
	Weight     int64  `json:"weight"`
	Weighted   int64  `json:"weighted"`
}

// Refused is an HTTP answer other than success. It is a difference: upstream has a verdict on every
// case.
type Refused struct {
	Status int
	Body   string
}

func (r *Refused) Error() string { return fmt.Sprintf("HTTP %d: %s", r.Status, r.Body) }

// Preempts reports whether a case is decided with preemption.
func Preempts(kase *oracle.Case) bool { return kase.Seed%4 != 3 }

// Ask posts the case's state and requests the decision on its pod. The pod is sent by reference for
// even seeds and in full for odd ones; every fourth seed is without preemption.
func (c *Client) Ask(ctx context.Context, kase *oracle.Case) (*Answer, error) {
	request := map[string]any{"podRef": kase.Pod}
	if !Preempts(kase) {
		request["preempt"] = false
	}
	if kase.Seed%2 == 1 {
		pod, err := kase.FindPod()
		if err != nil {
			return nil, err
		}
		delete(request, "podRef")
		request["pod"] = pod
	}
	return c.Decide(ctx, kase, request)
}

// Decide posts the case's state and asks what else the request says, in full and
// without a record.
func (c *Client) Decide(ctx context.Context, kase *oracle.Case, request map[string]any) (*Answer, error) {
	list, err := kase.List()
	if err != nil {
		return nil, err
	}
	var snapshot struct {
		ID string `json:"id"`
	}
	if err := c.post(ctx, "/v1/snapshots?allow-empty=true&cluster="+url.QueryEscape(c.Cluster), list, &snapshot); err != nil {
		return nil, fmt.Errorf("post snapshot: %w", err)
	}
	c.provoke(ctx, kase, snapshot.ID)
	request["snapshot"], request["explain"], request["dryRun"] = snapshot.ID, "full", true
	if c.All {
		request["explain"] = "all"
	}
	if len(kase.Config) > 0 {
		request["config"] = kase.Config
	}
	if c.Semantics != "" {
		request["semantics"] = c.Semantics
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	var a Answer
	if err := c.post(ctx, "/v1/decisions", body, &a); err != nil {
		return nil, fmt.Errorf("decide: %w", err)
	}
	return &a, nil
}

func (c *Client) post(ctx context.Context, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Server+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return &Refused{Status: res.StatusCode, Body: string(raw[:min(len(raw), 8000)])}
	}
	return json.Unmarshal(raw, into)
}
