package player

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// Client speaks to a server.
type Client struct {
	URL  string
	HTTP *http.Client
}

// call sends a request and decodes the answer into out unless that is nil.
func (c *Client) call(method, path string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req, err := http.NewRequest(method, c.URL+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%d %.500s", resp.StatusCode, answer)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// Moment is a moment of a timeline, as the API describes it.
type Moment struct {
	AfterSeconds                int64
	What, Pod, Owner, Node, Why string
}

func (m Moment) String() string {
	return fmt.Sprintf("%d %s %s %s %s: %s", m.AfterSeconds, m.What, m.Pod, m.Owner, m.Node, m.Why)
}

// podName names a pod in a request.
type podName struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// decision is what the player reads of an answer.
type decision struct {
	Outcome, Node, NominatedNode, Message string
	Preemption                            *struct {
		Eligible           bool
		Victims            []podName
		ClearedNominations []podName
	}
	Nodes []struct {
		Feasible bool
		Plugin   string
	}
}

// rejectedBy lists the plugins that were the first to reject the pod on a node.
func (d *decision) rejectedBy() (list []string) {
	for _, n := range d.Nodes {
		if n.Plugin != "" && !slices.Contains(list, n.Plugin) {
			list = append(list, n.Plugin)
		}
	}
	return list
}

// upload puts objects as the newest state of a cluster.
func (c *Client) upload(cluster string, objects []any) (snapshot string, err error) {
	var s struct{ ID string }
	err = c.call("POST", "/v1/snapshots?cluster="+cluster, map[string]any{"kind": "List", "apiVersion": "v1", "items": objects}, &s)
	return s.ID, err
}
