package handlers

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
)

// TestStrangersFromElsewhere: to an address that other machines reach, a caller without an identity
// gets no token, and where hosts are named a page under another name gets nothing.
func TestStrangersFromElsewhere(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Hosts = []string{"berth"} })
	h.upload("demo", small())
	const token = `{"name":"x","grants":[{"role":"admin","clusters":["*"],"namespaces":["*"]}]}`
	send := func(local, host, method, path, body string) int {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(local), Port: 8080}))
		w := httptest.NewRecorder()
		h.api.Handler().ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		local, host, method, path, body string
		want                            int
	}{
		{"172.17.0.2", "localhost:8080", "POST", "/v1/tokens", token, 403},
		{"172.17.0.2", "berth:8080", "POST", "/v1/tokens/x/rotate", `{}`, 403},
		{"127.0.0.1", "localhost:8080", "POST", "/v1/tokens", token, 404}, // it keeps none
		{"172.17.0.2", "evil.example:8080", "GET", "/v1/clusters", "", 421},
		{"172.17.0.2", "evil.example:8080", "DELETE", "/v1/clusters/demo", "", 421},
		{"172.17.0.2", "berth:8080", "GET", "/v1/clusters", "", 200},
		{"172.17.0.2", "172.17.0.2:8080", "GET", "/livez", "", 200}, // as a kubelet asks
		{"172.17.0.2", "[fd00::2]:8080", "GET", "/livez", "", 200},
		{"127.0.0.1", "192.0.2.1:8080", "GET", "/v1/clusters", "", 421},
	} {
		if got := send(c.local, c.host, c.method, c.path, c.body); got != c.want {
			t.Errorf("%s: %s %s at %s: %d, want %d", c.local, c.method, c.path, c.host, got, c.want)
		}
	}
}
