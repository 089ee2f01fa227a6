package admit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Client is berth's side.
type Client struct{ Base, Cluster string }

// Class creates a priority class.
func (c *Client) Class(class any) error {
	status, body, err := c.post("/v1/priorityclasses?cluster="+c.Cluster, class)
	if err == nil && status != http.StatusCreated && status != http.StatusConflict {
		err = fmt.Errorf("create a class: %d %s", status, body)
	}
	return err
}

// Upload uploads objects as the whole cluster.
func (c *Client) Upload(objects []any) error {
	status, body, err := c.post("/v1/snapshots?allow-empty=true&cluster="+c.Cluster, map[string]any{"kind": "List", "apiVersion": "v1", "items": objects})
	if err == nil && status != http.StatusCreated && status != http.StatusOK {
		err = fmt.Errorf("upload: %d %s", status, body)
	}
	return err
}

// Judge asks berth. Without an old pod it is a create.
func (c *Client) Judge(pod, old json.RawMessage) (Verdict, error) {
	q := map[string]any{"cluster": c.Cluster, "operation": "CREATE", "pod": pod}
	if old != nil {
		q["operation"], q["oldPod"] = "UPDATE", old
	}
	status, body, err := c.post("/v1/pods/admission", q)
	if err != nil {
		return Verdict{}, err
	}
	if status != http.StatusOK {
		return Verdict{}, fmt.Errorf("%d %s", status, body)
	}
	var a struct {
		Allowed   bool
		Pod       json.RawMessage
		Errors    []struct{ Field, Type, Message string }
		Forbidden string
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return Verdict{}, err
	}
	v := Verdict{Allowed: a.Allowed, Pod: a.Pod, Forbidden: a.Forbidden}
	for _, e := range a.Errors {
		v.add(e.Field, e.Type, e.Message)
	}
	v.sort()
	return v, nil
}

func (c *Client) post(path string, body any) (int, []byte, error) {
	js, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.Post(c.Base+path, "application/json", bytes.NewReader(js))
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	return resp.StatusCode, out, err
}
