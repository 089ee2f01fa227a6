package handlers

import (
	"fmt"
	"math/rand/v2"
	"net/http"

	"berth/internal/access"
	"berth/internal/handlers/exchange"
)

// Waiting answers for a server whose store has not been read since its start: with nothing known,
// each answer but 503 could be a wrong no. reason returns why the store is not there; it is for
// /readyz, and where callers need an identity for the log alone.
func Waiting(reason func() error, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _ = writeText(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		text := "not ready\n"
		if !access.Required(r.Context()) {
			text = fmt.Sprintf("[-]store: not ready: it has not been read since this server started: %v\n", reason())
		}
		_ = writeText(w, http.StatusServiceUnavailable, text)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if access.Required(r.Context()) {
			notRead(w, r)
			return
		}
		metrics.ServeHTTP(w, r)
	})
	mux.HandleFunc("/", notRead)
	return mux
}

func notRead(w http.ResponseWriter, r *http.Request) {
	exchange.WriteProblem(w, &exchange.Error{
		Status: http.StatusServiceUnavailable, Kind: "store-unavailable", RetryAfter: 1 + rand.IntN(3),
		Detail: "this server has just started, and its store cannot be reached yet, which this needs; try again later",
	}, "")
}
