package handlers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// drip returns its text in pieces with a pause before each.
type drip struct {
	pieces []string
	pause  time.Duration
}

func (d *drip) Read(p []byte) (int, error) {
	if len(d.pieces) == 0 {
		return 0, io.EOF
	}
	time.Sleep(d.pause)
	n := copy(p, d.pieces[0])
	if d.pieces[0] = d.pieces[0][n:]; d.pieces[0] == "" {
		d.pieces = d.pieces[1:]
	}
	return n, nil
}

// TestSlowUploadOutlivesTheServersTimeouts has a class's deadline reach the connection through all
// the wrappers around it.
func TestSlowUploadOutlivesTheServersTimeouts(t *testing.T) {
	m, l, st := openLog(t)
	a, err := New(optionsFor(m, l, st))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(a.Handler())
	s.Config.ReadTimeout, s.Config.WriteTimeout = 150*time.Millisecond, 150*time.Millisecond
	s.Start()
	defer s.Close()
	body := small()
	cut := len(body) / 4
	resp, err := http.Post(s.URL+"/v1/snapshots", "application/json", &drip{[]string{body[:cut], body[cut : 2*cut], body[2*cut : 3*cut], body[3*cut:]}, 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	defer http.DefaultClient.CloseIdleConnections()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusCreated || !strings.Contains(string(text), `"default@1"`) {
		t.Errorf("%d %s %v", resp.StatusCode, text, err)
	}
}

// TestBrokenUploadStoresNothing breaks a body off in its middle, plain and compressed.
func TestBrokenUploadStoresNothing(t *testing.T) {
	h := start(t, nil)
	for _, encoding := range []string{"", "gzip", "zstd"} {
		body := small()
		if encoding != "" {
			body = zipped(t, encoding, body)
		}
		h.want(400, nil, "POST", "/v1/snapshots?cluster=c", body[:len(body)-20], "Content-Encoding", encoding)
	}
	h.want(400, nil, "POST", "/v1/snapshots?cluster=c", small(), "Content-Encoding", "gzip")
	h.want(400, nil, "POST", "/v1/snapshots?cluster=c", small(), "Content-Encoding", "zstd")
	h.want(415, nil, "POST", "/v1/snapshots?cluster=c", small(), "Content-Encoding", "br")
	h.want(415, nil, "POST", "/v1/snapshots?cluster=c", small(), "Content-Encoding", "gzip, gzip")
	h.want(404, nil, "GET", "/v1/clusters/c", "")
}
