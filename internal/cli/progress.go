package cli

import (
	"fmt"
	"strings"
	"time"
)

// progress is a line on stderr that reports that something is going on. It is
// shown only on a terminal, and only where it takes a while.
type progress struct {
	a     *app
	what  string
	n     int
	began time.Time
	shown time.Time
}

// The first line is due after a while, further ones now and then.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

func (a *app) progress(what string) *progress {
	now := a.Now()
	return &progress{a: a, what: what, began: now, shown: now.Add(progressAfter - progressEvery)}
}

// step counts one more.
func (p *progress) step() {
	p.n++
	if p.n%256 == 0 {
		p.show()
	}
}

// tick counts one more of what takes long.
func (p *progress) tick() {
	p.n++
	p.show()
}

func (p *progress) show() {
	if !p.a.Watched || p.a.Env("TERM") == "dumb" {
		return
	}
	if now := p.a.Now(); now.Sub(p.shown) >= progressEvery {
		p.shown = now
		fmt.Fprintf(p.a.Err, "\r%s", fit(fmt.Sprintf("%s: %d objects", p.what, p.n), standardWidth-1))
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.a.Watched && p.shown.After(p.began.Add(progressAfter-progressEvery)) {
		fmt.Fprintf(p.a.Err, "\r%s\r", strings.Repeat(" ", standardWidth-1))
	}
}
