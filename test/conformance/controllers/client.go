package controllers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Client is berth's side.
type Client struct{ Base string }

// Moment is a moment of a timeline.
type Moment struct {
	AfterSeconds                int64
	What, Pod, Owner, Node, Why string
}

// Answer is what berth says of a case.
type Answer struct {
	Ended    string
	Timeline []Moment
	Pods     []struct {
		Namespace, Name string
		Rule            *struct{ ID string }
	}
	Lost []struct {
		Name                 string
		NotReadyAfterSeconds int64
		TaintedAfterSeconds  *int64
	}
	LostZones []struct {
		Zone, State     string
		Nodes, NotReady int
	}
}

func (c *Client) call(method, path string, body, into any) error {
	js, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, c.Base+path, bytes.NewReader(js))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %.1000s", method, path, resp.StatusCode, out)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out, into)
}

// Ask has berth play a case in a cluster of its own.
func (c *Client) Ask(k *Case) (*Answer, error) {
	name := fmt.Sprintf("%s-%d", k.Part, k.Seed)
	items := make([]any, len(k.Objects))
	for i, o := range k.Objects {
		items[i] = o
	}
	var snapshot struct{ ID string }
	list := map[string]any{"kind": "List", "apiVersion": "v1", "items": items}
	if err := c.call("POST", "/v1/snapshots?cluster="+name, list, &snapshot); err != nil {
		return nil, err
	}
	var answer struct{ Clock Answer }
	err := c.call("POST", "/v1/simulations", map[string]any{
		"base": snapshot.ID, "clock": true, "now": Begin, "startSeconds": k.Start, "events": k.Events,
		"until": map[string]string{"duration": (time.Duration(k.Until) * time.Second).String()}, "wait": "1m",
	}, &answer)
	if err != nil {
		return nil, err
	}
	return &answer.Clock, c.call("DELETE", "/v1/clusters/"+name, nil, nil)
}
