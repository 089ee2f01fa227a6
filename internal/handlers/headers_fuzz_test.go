package handlers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/access"
	"berth/internal/handlers/admit"
)

// FuzzHeaders: no header lets a caller through where an identity is required, ends the server, or
// stands in an answer that it could break.
func FuzzHeaders(f *testing.F) {
	f.Add("127.0.0.1:8080", "https://evil.example", "Bearer x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "abc", "application/json", "gzip")
	f.Add("evil.example", "null", "Basic cm9vdDpyb290", "", "a\nb: c", "text/plain; charset=\xff", "br, ,")
	f.Add("[::1%25lo]:1", "://", "bearer\x00", "00--01", strings.Repeat("x", 300), ";", "identity;q=0")
	a, err := New(admit.Options{})
	if err != nil {
		f.Fatal(err)
	}
	h := a.Handler()
	f.Fuzz(func(t *testing.T, host, origin, authorization, trace, id, media, encoding string) {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			for _, path := range []string{"/v1/tokens", "/v1/clusters/prod", "/v1/decisions", "/filter", "/metrics"} {
				r := httptest.NewRequest(method, path, strings.NewReader("{}"))
				r.Host = host
				r.Header = http.Header{
					"Origin": {origin}, "Authorization": {authorization}, "Traceparent": {trace}, "X-Request-Id": {id}, "Content-Type": {media},
					"Content-Encoding": {encoding}, "Accept-Encoding": {encoding}, "Sec-Fetch-Site": {origin},
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r.WithContext(access.Require(t.Context())))
				if w.Code < 400 || w.Code >= 500 {
					t.Errorf("%s %s with %q: %d %s", method, path, r.Header, w.Code, w.Body)
				}
				for name, list := range w.Header() {
					if strings.ContainsAny(strings.Join(list, ""), "\r\n\x00") {
						t.Errorf("%s %s: header %s is %q", method, path, name, list)
					}
				}
				if len(authorization) > 20 && strings.Contains(w.Body.String(), authorization[7:]) && !strings.Contains(host+id+media+origin, authorization[7:]) {
					t.Errorf("the answer quotes the Authorization header: %s", w.Body)
				}
			}
		}
	})
}
