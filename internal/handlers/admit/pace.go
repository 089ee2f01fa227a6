package admit

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
)

// paced is a body that has to come at a least rate, so that a caller who sends nothing gives its
// slot back. Only the time counts that is spent waiting for the caller.
type paced struct {
	io.ReadCloser
	conn   http.ResponseWriter
	until  time.Time // the connection's own deadline
	limits *limits.Limits

	// Of the present window, which ends when it has brought its bytes.
	waited time.Duration
	came   int64
}

func (p *paced) Read(b []byte) (int, error) {
	began := time.Now()
	end := began.Add(p.limits.BodyGrace - p.waited)
	if end.After(p.until) {
		end = p.until
	}
	if err := http.NewResponseController(p.conn).SetReadDeadline(end); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := p.ReadCloser.Read(b)
	p.waited += time.Since(began)
	p.came += int64(n)
	if float64(p.came) >= float64(p.limits.MinBodyRate)*p.limits.BodyGrace.Seconds() {
		p.waited, p.came = 0, 0
	}
	if err == nil {
		return n, nil
	}
	// The connection is read on while the call is answered, to notice a caller who hangs up.
	_ = http.NewResponseController(p.conn).SetReadDeadline(p.until)
	if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(p.until) {
		err = &exchange.Error{
			Status: http.StatusRequestTimeout, Kind: "limit", Limit: "min-body-rate",
			Detail: fmt.Sprintf("the body came slower than min-body-rate=%s a second for body-grace=%s", p.limits.MinBodyRate, p.limits.BodyGrace),
		}
	}
	return n, err
}
