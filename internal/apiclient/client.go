// Package apiclient calls a berth server's REST API by the module client, with the options of
// programs.
package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"berth/client"
)

// OptionError is an option that New refuses.
type OptionError struct{ What, Remedy string }

// Error returns what is wrong, and what would be right.
func (e *OptionError) Error() string { return e.What + ". " + e.Remedy }

// MaxAnswer bounds what is read of an answer, in bytes.
const MaxAnswer = 1 << 30

// maxToken bounds a token, as the server does.
const maxToken = 8 << 10

// Options say which server to call, and as whom.
type Options struct {
	Server    string // URL
	Token     string // empty: none
	TokenFile string // a file with the token, which wins over Token
	CA        string // a file with the CAs of the server's certificate, in PEM; empty: the system's
	Timeout   time.Duration
}

// Client calls one server.
type Client struct {
	Base    *url.URL
	HTTP    *http.Client
	timeout time.Duration
	calls   *client.Client
}

// tries is how often a program sends a call, under one key: people wait for it.
const tries = 3

// New returns a client. It refuses to send a token in clear text to another machine.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.Server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		what := fmt.Sprintf("--server %q is no URL", o.Server)
		if strings.ContainsAny(o.Server, "@?#") { // it may hold a password
			what = "--server is no URL"
		}
		return nil, &OptionError{what, "Expected a URL such as http://127.0.0.1:8080."}
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" || strings.Contains(base.Path, "@") {
		return nil, &OptionError{"--server has more than an address: a user, a password or a query", "A server of berth reads an API token alone: give it by --token-file or $BERTH_TOKEN."}
	}
	c := &Client{Base: base, HTTP: &http.Client{Timeout: o.Timeout}, timeout: o.Timeout}
	token, err := o.token()
	if err != nil {
		return nil, err
	}
	ip := net.ParseIP(base.Hostname())
	if token != "" && base.Scheme != "https" && base.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &OptionError{"A token would go to " + base.String() + " in clear text", "Use an https URL, or unset BERTH_TOKEN and --token-file."}
	}
	if err := c.trust(o.CA); err != nil {
		return nil, err
	}
	unbounded := *c.HTTP // streams do not end, and Call has a bound for all tries
	unbounded.Timeout = 0
	c.calls, err = client.New(client.Options{Server: o.Server, Token: token, HTTP: &unbounded, Tries: tries})
	return c, err
}

func (o Options) token() (string, error) {
	text := o.Token
	if o.TokenFile != "" {
		raw, err := os.ReadFile(o.TokenFile)
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		text = string(raw)
	}
	text = strings.TrimSpace(text)
	if len(text) > maxToken || strings.ContainsAny(text, " \t\r\n") {
		return "", &OptionError{"The token is not one line of 8 KiB at most", "server token create --name NAME --role viewer > FILE writes one."}
	}
	return text, nil
}

// trust checks the server's certificate by the CAs of a file instead of the system's.
func (c *Client) trust(file string) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(raw) {
		return fmt.Errorf("--ca: %s holds no certificate in PEM", file)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: roots}
	c.HTTP.Transport = t
	return nil
}

// Call sends body as JSON, none where it is nil, and returns the body and status of the answer. One
// other than 2xx is a *RefusedError; no answer at all is the error of net/http. What is lost, or
// refused for a time, is sent again under the same key, within the time of the options.
func (c *Client) Call(ctx context.Context, method string, query url.Values, body any, path ...string) (json.RawMessage, int, error) {
	if c.timeout > 0 {
		within, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		ctx = within
	}
	answer, status, err := c.calls.Send(ctx, method, query, body, path...)
	return answer, status, inWords(err)
}

// Write is Call that posts under a key; a drawn one where it is empty.
func (c *Client) Write(ctx context.Context, key string, body any, path ...string) (json.RawMessage, int, error) {
	if key != "" {
		ctx = client.WithKey(ctx, key)
	}
	return c.Call(ctx, http.MethodPost, nil, body, path...)
}

// Stream reads one stream of events, as that of the module client.
func (c *Client) Stream(
	ctx context.Context, cluster, after string, each func(id, event string, data json.RawMessage) error,
) error {
	return inWords(c.calls.Stream(ctx, cluster, after, each))
}

// inWords has a refusal speak as programs do.
func inWords(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) {
		return (*RefusedError)(refused)
	}
	return err
}

// RefusedError is an answer that is an error, in the words of programs.
type RefusedError client.Error

// Error returns the detail, and the fields at fault.
func (r *RefusedError) Error() string {
	text := strings.TrimPrefix(r.Detail, "podRef: ") // the reader named a pod, not a field
	if text == "" {
		text = fmt.Sprintf("the server answered %d %s", r.Status, http.StatusText(r.Status))
	}
	for _, e := range r.Errors {
		if !strings.Contains(text, e.Message) {
			text += fmt.Sprintf("; %s: %s", e.Field, e.Message)
		}
	}
	return text
}
