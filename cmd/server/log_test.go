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

// TestLogSample: of one message so many lines pass in a second, errors always do, and what was left
// out is counted and named.
func TestLogSample(t *testing.T) {
	var out bytes.Buffer
	few := newSample(3)
	now := time.Unix(1000, 0)
	few.now = func() time.Time { return now }
	log := slog.New(sampled{newLogger(&out, "json", "debug").Handler(), few})
	for range 10 {
		log.Info("often")
		log.With(slog.Int("a", 1)).Warn("oftener")
		log.Error("failed")
	}
	log.Info("once")
	now = now.Add(time.Second)
	log.WithGroup("g").Debug("often")
	for text, want := range map[string]int{`"msg":"often"`: 4, `"msg":"oftener"`: 3, `"msg":"failed"`: 10, `"msg":"once"`: 1, `"message":"often","lines":7`: 1, `"message":"oftener","lines":7`: 1} {
		if got := strings.Count(out.String(), text); got != want {
			t.Errorf("%s: %d lines, want %d\n%s", text, got, want, out.String())
		}
	}
	if few.info.Load() != 7 || few.warn.Load() != 7 || few.debug.Load() != 0 {
		t.Errorf("counted %d, %d and %d", few.info.Load(), few.warn.Load(), few.debug.Load())
	}
	if code, _, errs := command(t, "config", "print", "--log-sample", "-1"); code != 1 || !strings.Contains(errs, "--log-sample") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
