package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

func TestDurationsInLogsAreTexts(t *testing.T) {
	var out bytes.Buffer
	newLogger(&out, "json", "info").Info("x", slog.Duration("timeout", 30*time.Second), slog.Duration("took", 507433*time.Nanosecond))
	for _, want := range []string{`"timeout":"30s"`, `"took":"507.43µs"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out.String())
		}
	}
}

// An address that is taken is refused with the setting that chooses another.
func TestTakenAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, err = open("the extender", "--extender-listen", l.Addr().String(), &tlsSettings{}, slog.New(slog.DiscardHandler))
	if want := "choose another with --extender-listen HOST:PORT or BERTH_EXTENDER_LISTEN"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("open gave %v, want it to end with %q", err, want)
	}
}
