package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/span"
)

// livez reports that the process answers.
//
//	@Summary	Is the process alive
//	@Tags		around
//	@Produce	plain
//	@Success	200	{string}	string	"ok"
//	@Failure	431	"headers of more than max-header-bytes"
//	@Router		/livez [get]
func (a *API) livez(w http.ResponseWriter, _ *http.Request) error {
	return writeText(w, http.StatusOK, "ok\n")
}

// readyz reports whether calls would be answered, and names what is not ready.
//
//	@Summary	Is the server ready
//	@Tags		around
//	@Produce	plain
//	@Param		verbose	query		string	false	"list every check, also when all is well"
//	@Success	200		{string}	string	"ok"
//	@Failure	431		"headers of more than max-header-bytes"
//	@Failure	503		{string}	string	"the failed checks"
//	@Router		/readyz [get]
func (a *API) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	checks := append([]admit.Check{{Name: "shutdown", Probe: func(context.Context) error {
		if a.draining.Load() {
			return errors.New("the server is ending")
		}
		return nil
	}}}, a.checks...)
	var text, notes strings.Builder
	status, warned := http.StatusOK, false
	for _, c := range checks {
		var mild *admit.WarningError
		if err := span.Do(ctx, span.Check+" "+c.Name, c.Probe); err != nil && (c.Warn || errors.As(err, &mild)) {
			warned = true
			fmt.Fprintf(&text, "[!]%s: %v\n", c.Name, err)
		} else if err != nil {
			status = http.StatusServiceUnavailable
			fmt.Fprintf(&text, "[-]%s: not ready: %v\n", c.Name, err)
		} else {
			fmt.Fprintf(&text, "[+]%s: ok\n", c.Name)
		}
	}
	for _, n := range a.notes {
		if note := n.Text(); note != "" {
			fmt.Fprintf(&notes, "[!]%s: %s\n", n.Name, note)
		}
	}
	text.WriteString(notes.String())
	if status == http.StatusOK {
		if !warned && !r.URL.Query().Has("verbose") {
			return a.writeState(w, r, status, "ok\n"+notes.String())
		}
		if warned {
			text.WriteString("readyz: ready, but for what is named\n")
		} else {
			text.WriteString("readyz: all checks passed\n")
		}
	}
	return a.writeState(w, r, status, text.String())
}

// writeState writes which parts of the server are well. Their texts name clusters: where identities
// are needed, a caller without the right to view all clusters gets the status alone.
func (a *API) writeState(w http.ResponseWriter, r *http.Request, status int, text string) error {
	if access.Required(r.Context()) {
		if err := a.Identify(r); err != nil || !access.From(r.Context()).Grants.May(access.View, "", "") {
			text = "ok\n"
			if status != http.StatusOK {
				text = "not ready\n"
			}
		}
	}
	return writeText(w, status, text)
}

// scrapeMetrics returns the figures in Prometheus' text format.
//
//	@Summary	Metrics for Prometheus
//	@Tags		around
//	@Produce	plain
//	@Success	200	{string}	string	"metrics in Prometheus' text format"
//	@Failure	401,403,404	{object}	exchange.Problem	"404: metrics are off"
//	@Router		/metrics [get]
func (a *API) scrapeMetrics(w http.ResponseWriter, r *http.Request) error {
	if a.scrape == nil {
		return exchange.NotFound("metrics are off")
	}
	a.scrape.ServeHTTP(w, r)
	return nil
}

func writeText(w http.ResponseWriter, status int, text string) error {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
	return nil
}
