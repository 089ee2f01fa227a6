package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Streams are what a command reads and writes, and what it knows of the world
// around it.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) string // as os.Getenv
	Now      func() time.Time
	// Columns is the width of the terminal that Out is; 0 where it is none.
	Columns int
	// Typed reports whether In is a terminal, at which a person would have to type;
	// Watched that Err is one, at which a person waits.
	Typed, Watched bool
}

// Standard returns the process's own streams.
func Standard() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Now: time.Now}
	s.Typed, s.Watched = term.IsTerminal(int(os.Stdin.Fd())), term.IsTerminal(int(os.Stderr.Fd()))
	if term.IsTerminal(int(os.Stdout.Fd())) {
		s.Columns = standardWidth
		if columns, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && columns > 0 {
			s.Columns = columns
		}
	}
	return s
}

const (
	standardWidth = 80  // of what is no terminal, and the least that is written for
	greatestWidth = 120 // longer lines are hard to read
)

// width is how many columns a line may have.
func (s *Streams) width() int {
	return min(max(s.Columns, standardWidth), greatestWidth)
}

// json writes an object of the API as it is, indented.
func (a *app) json(raw []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	out.WriteByte('\n')
	_, err := a.Out.Write(out.Bytes())
	return err
}

// paint colours words on terminals; elsewhere it leaves them as they are.
type paint bool

func (a *app) paint() paint {
	switch a.o.color {
	case "always":
		return true
	case "never":
		return false
	}
	return paint(a.Columns > 0 && a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb")
}

type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
)

func (p paint) word(c colour, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + string(c) + ";1m" + s + "\x1b[0m"
}
