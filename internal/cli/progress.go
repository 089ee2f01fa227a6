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
	if p.due() {
		p.line(fmt.Sprintf("%s: %d objects", p.what, p.n))
	}
}

// due reports whether the line is to be written anew.
func (p *progress) due() bool {
	if !p.a.Watched || p.a.Env("TERM") == "dumb" {
		return false
	}
	now := p.a.Now()
	if now.Sub(p.shown) < progressEvery {
		return false
	}
	p.shown = now
	return true
}

func (p *progress) line(text string) {
	fmt.Fprintf(p.a.Err, "\r%-*s", standardWidth-1, fit(text, standardWidth-1))
}

// progressWidth is how many columns the bar of a run has.
const progressWidth = 30

// at shows how far a part of a run is, as a bar where its end is known.
func (p *progress) at(part string, done, total int) {
	switch {
	case !p.due():
	case total == 0:
		p.line(fmt.Sprintf("%s: %s %s", p.what, count(done), part))
	default:
		full := progressWidth * done / total
		p.line(fmt.Sprintf("%s: [%s%s] %d%% of %s (%s)", p.what, strings.Repeat("#", full), strings.Repeat(".", progressWidth-full), 100*done/total, count(total), part))
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.a.Watched && p.shown.After(p.began.Add(progressAfter-progressEvery)) {
		fmt.Fprintf(p.a.Err, "\r%s\r", strings.Repeat(" ", standardWidth-1))
	}
}
