package apiclient

import (
	"bytes"
	"io"
	"net/http"
	"net/url"

	"berth/client"
)

// InProcess returns a client of an API in this process: nothing is sent, and no time runs out.
func InProcess(api http.Handler) *Client {
	c := &Client{
		Base: &url.URL{Scheme: "http", Host: "127.0.0.1"},
		HTTP: &http.Client{Transport: inProcess{api}},
	}
	var err error
	if c.calls, err = client.New(client.Options{Server: c.Base.String(), HTTP: c.HTTP, Tries: 1}); err != nil {
		panic(err) // the address is a constant
	}
	return c
}

type inProcess struct{ api http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RemoteAddr = "127.0.0.1:0"
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := NewRecorder()
	p.api.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: w.Status, Header: w.header, Body: io.NopCloser(&w.Body), Request: r}, nil
}

// Recorder keeps the answer of a handler in this process.
type Recorder struct {
	Status int
	Body   bytes.Buffer
	header http.Header
}

// NewRecorder returns an empty one.
func NewRecorder() *Recorder { return &Recorder{Status: http.StatusOK, header: http.Header{}} }

// Header implements http.ResponseWriter.
func (r *Recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *Recorder) WriteHeader(status int) { r.Status = status }

// Write implements http.ResponseWriter.
func (r *Recorder) Write(b []byte) (int, error) { return r.Body.Write(b) }
