package handlers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// unread is a body that nobody may look at.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body of a refused call was read")
	return 0, http.ErrBodyReadAfterClose
}

func (u unread) Close() error { return nil }

// A call that is refused for want of a place is refused before its body is read.
func TestRefusedBeforeTheBodyIsRead(t *testing.T) {
	h, s := startSlow(t, func(l *Limits) { l.DecisionInFlight, l.DecisionQueue = 1, 1 })
	var group sync.WaitGroup
	defer group.Wait()
	defer close(s.let)
	body := `{"pod":` + pod("new", "1", "") + `}`
	group.Go(func() { h.do("POST", "/v1/decisions", body) })
	<-s.entered
	group.Go(func() { h.do("POST", "/v1/decisions", strings.Replace(body, "new", "next", 1)) })
	waitFor(t, func() bool { return waiting(h.api) == 1 })
	w := httptest.NewRecorder()
	h.api.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/decisions", unread{t}))
	if w.Code != http.StatusTooManyRequests {
		t.Errorf("status %d", w.Code)
	}
}
