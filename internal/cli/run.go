// Package cli is the command line for people: berth, and kubectl berth, the same program under a
// plugin's name. It queries a running server, or reads what kubectl prints and decides in the
// process, without a store and without a record. Both ways have the same answer and the same
// output. Output keeps to the terminal's width, or to COLUMNS, or to 80 columns, unless -o wide is
// given; data goes to stdout, everything else to stderr. The exit code is 0 for yes, 2 for no, and
// 1 for a failure.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"berth/internal/cli/ledger"
	"berth/internal/kube/object"
)

// Version is what a build knows of itself.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	// Platform is such as linux/amd64.
	Platform string `json:"platform"`
}

// pluginName is the program's file name as a plugin of kubectl.
const pluginName = "kubectl-berth"

// app is one run of the program.
type app struct {
	Streams
	name    string // as the user calls it: berth, or kubectl berth
	version Version
	o       common
	read    bool   // stdin was read
	line    string // the command, for a page that is a file
	// beside are the objects that came in a file beside the pod.
	beside  []object.Object
	claims  []object.Object // that a controller makes for the pod
	counted bool            // the command counts replicas of a workload
	points  *live           // the cluster of the kubeconfig, once it was looked for; nil: none
}

// Run runs the command line and returns the exit code. program is the path that
// the process was started by: as kubectl-berth it speaks of itself as kubectl
// berth.
func Run(ctx context.Context, program string, args []string, s Streams, v Version) int {
	a := &app{Streams: s, name: "berth", version: v}
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	if base == pluginName {
		a.name = "kubectl berth"
	}
	root := a.root()
	root.SetArgs(append([]string{}, args...)) // for nil it would take the process's own
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitYes
	case errors.Is(err, errNo):
		return exitNo
	case errors.Is(err, errWarned):
		return exitBroken
	}
	a.complain(err)
	return exitBroken
}

// complain prints what is wrong, why, and what to do next.
func (a *app) complain(err error) {
	text := err.Error()
	if limit, ok := errors.AsType[*object.LimitError](err); ok { // a setting of a server, which there is none of here
		text = strings.Replace(text, limit.Error(), limit.Plain(), 1)
	}
	for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 0 {
			l = a.name + ": " + l
		}
		fmt.Fprintln(a.Err, strings.TrimRight(clean(l), " "))
	}
	var p *problem
	var r *ledger.RefusalError
	switch {
	case errors.As(err, &p) && p.next != "":
		fmt.Fprintf(a.Err, "%s\n", p.next)
	case errors.As(err, &r) && r.Next != "":
		fmt.Fprintf(a.Err, "%s\n", r.Next)
	}
}

// The codes that a command ends with.
const (
	exitYes    = 0
	exitBroken = 1
	exitNo     = 2
)

// errNo ends a command whose answer was shown and is no.
var errNo = errors.New("the answer is no")

// errWarned ends a command that has shown warnings, and is no failure to report.
var errWarned = errors.New("there are warnings")

// problem is an error for people: what is wrong, why, and what to do next.
type problem struct {
	what string
	why  error  // may be nil
	next string // a command or a sentence; may be empty
}

// Error returns the action and the cause in one line.
func (p *problem) Error() string {
	if p.why == nil {
		return p.what
	}
	return fmt.Sprintf("%s: %v", p.what, p.why)
}

// Unwrap returns the cause.
func (p *problem) Unwrap() error { return p.why }

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
	standardWidth = 80 // of what is no terminal
	leastWidth    = 40 // that is written for
)

// width is how many columns a line may have: what COLUMNS says, or the terminal.
func (s *Streams) width() int {
	if n, err := strconv.Atoi(s.Env("COLUMNS")); err == nil && n > 0 {
		return max(n, leastWidth)
	}
	if s.Columns > 0 {
		return max(s.Columns, leastWidth)
	}
	return standardWidth
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
