// Package client calls a berth server, the placement service of a platform. It needs the standard
// library alone: Kubernetes objects are values that encode to their JSON, such as those of
// k8s.io/api or maps.
//
// Every call that writes has an Idempotency-Key. Where an answer is lost, or the server asks to come
// later, the call is sent again under the same key, so that it is done once. Clusters are named, and
// their states are snapshots, CLUSTER@REVISION or CLUSTER@latest.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Options say which server to call, and how.
type Options struct {
	// Server is the URL, such as https://berth.example:8443.
	Server string
	// Token of a caller; empty: none. It is sent by https or on this machine alone.
	Token string
	// HTTP is the client to use, with its certificates; nil: http.DefaultClient. A Timeout of it
	// ends streams of events too, which then go on; a context may bound a call instead.
	HTTP *http.Client
	// Tries is how often a call is sent, six times if zero. One that is sent once has no key but
	// that of WithKey.
	Tries int
}

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
	tries int
}

const (
	firstWait, mostWait = 100 * time.Millisecond, 10 * time.Second
	mostAnswer          = 1 << 30
	defaultTries        = 6
)

// New returns a client.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.Server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "" {
		return nil, errors.New("the server is no URL: want one such as http://127.0.0.1:8080")
	}
	ip := net.ParseIP(base.Hostname())
	if o.Token != "" && base.Scheme != "https" && base.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the token would go to %s in clear text: want an https URL", base.Host)
	}
	c := &Client{base: base, token: o.Token, http: o.HTTP, tries: o.Tries}
	if c.http == nil {
		c.http = http.DefaultClient
	}
	if c.tries < 1 {
		c.tries = defaultTries
	}
	return c, nil
}

type keyed struct{}

// WithKey returns a context under which one call that writes has this Idempotency-Key, of 1 to 255
// visible characters, instead of one that is drawn. A program that may be started again while a call
// is under way names it by what it is for, such as "order-4711".
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyed{}, key)
}

// Call sends body as JSON, none where it is nil, until it is answered, and decodes the answer into
// out unless that is nil. It is what the other methods are made of, for calls that have none.
func (c *Client) Call(ctx context.Context, method string, query url.Values, body, out any, path ...string) error {
	answer, _, err := c.Send(ctx, method, query, body, path...)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// Send is Call that returns the answer as it came, and its status. A status other than 2xx is an
// *Error; what net/http says is returned where there is no answer.
func (c *Client) Send(ctx context.Context, method string, query url.Values, body any, path ...string) (json.RawMessage, int, error) {
	var sent []byte
	var err error
	switch b := body.(type) {
	case nil:
	case []byte:
		sent = b
	default:
		if sent, err = json.Marshal(body); err != nil {
			return nil, 0, fmt.Errorf("write the request: %w", err)
		}
	}
	key, _ := ctx.Value(keyed{}).(string)
	if key == "" && c.tries > 1 {
		key = rand.Text()
	}
	for try := 1; ; try++ {
		answer, status, err := c.once(ctx, method, query, key, sent, path)
		if err == nil || ctx.Err() != nil || try == c.tries {
			return answer, status, err
		}
		wait := min(firstWait<<try, mostWait)
		wait = wait/2 + mathrand.N(wait/2) // those who were refused together come back one by one
		var refused *Error
		if errors.As(err, &refused) {
			if !refused.passing() {
				return answer, status, err
			}
			wait = max(wait, refused.RetryAfter)
		}
		if until, has := ctx.Deadline(); has && time.Until(until) < wait {
			return answer, status, err // it would be too late
		}
		if ended := pause(ctx, wait); ended != nil {
			return nil, status, fmt.Errorf("%w; the last try: %w", ended, err)
		}
	}
}

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once sends a call one time.
func (c *Client) once(ctx context.Context, method string, query url.Values, key string, body []byte, path []string) (json.RawMessage, int, error) {
	req, err := c.request(ctx, method, query, body, path)
	if err != nil {
		return nil, 0, err
	}
	if method != http.MethodGet && key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, 0, fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, resp.StatusCode, refusal(resp, answer)
	}
	return answer, resp.StatusCode, nil
}

func (c *Client) request(ctx context.Context, method string, query url.Values, body []byte, path []string) (*http.Request, error) {
	escaped := make([]string, len(path))
	for i, p := range path {
		escaped[i] = url.PathEscape(p)
	}
	at := c.base.JoinPath(escaped...)
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the server's URL: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

// refusal reads an answer that is an error.
func refusal(resp *http.Response, answer []byte) *Error {
	e := &Error{}
	_ = json.Unmarshal(answer, e) // whatever it is, the status is told
	e.Status = resp.StatusCode
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
