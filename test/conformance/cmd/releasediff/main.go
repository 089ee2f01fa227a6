// Command releasediff lists what differs between two releases of Kubernetes in the code that berth
// answers as, beside what is known of it: a row of docs/releases.md, or why no answer differs by
// it. What no line covers makes it exit with 1. It reads the module cache alone.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out := flag.String("out", "", "directory for the texts that differ, a file each, for diff -ru")
	all := flag.Bool("all", false, "print also what a line of the file covers, and by which")
	dir := flag.String("dir", "releases", "directory of the files of what is known")
	doc := flag.String("rows", "../../docs/releases.md", "the document whose rows lines may name")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: releasediff [flags] FROM TO, such as v1.36.3 v1.37.2")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err == nil {
		var left int
		from, to := flag.Arg(0), flag.Arg(1)
		if left, err = compare(os.Stdout, options{
			cache: strings.TrimSpace(string(cache)), from: from, to: to,
			known: filepath.Join(*dir, from+"-"+to+".functions"), rows: *doc, out: *out, all: *all,
		}); left > 0 {
			os.Exit(1)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "releasediff:", err)
		os.Exit(2)
	}
}

type options struct {
	cache, from, to  string
	known, rows, out string
	all              bool
}

// compare writes what differs and returns how much of it is not known, with the lines of the file
// that are about nothing.
func compare(w io.Writer, o options) (int, error) {
	lines, err := readKnown(o.known, o.rows)
	if err != nil {
		return 0, err
	}
	old, err := read(o.cache, o.from)
	if err != nil {
		return 0, err
	}
	now, err := read(o.cache, o.to)
	if err != nil {
		return 0, err
	}
	list := differences(old, now)
	byRow, unknown, used := map[string]int{}, 0, map[*line]bool{}
	for _, d := range list {
		l := lines.of(d.name)
		if l != nil {
			used[l] = true
			byRow[l.row]++
		} else {
			unknown++
		}
		switch {
		case l == nil:
			fmt.Fprintf(w, "%-8s %s: no line\n", d.how, d.name)
		case o.all:
			fmt.Fprintf(w, "%-8s %s: %s, %s\n", d.how, d.name, l.row, l.why)
		}
		if o.out != "" && (l == nil || o.all) {
			if err := d.write(o); err != nil {
				return 0, err
			}
		}
	}
	for i := range lines {
		if !used[&lines[i]] {
			fmt.Fprintf(w, "%s:%d: nothing that differs is %s\n", o.known, lines[i].number, lines[i].glob)
			unknown++
		}
	}
	fmt.Fprintf(w, "%s to %s: %d differ of %d; by row:", o.from, o.to, len(list), len(now))
	for _, row := range sortedKeys(byRow) {
		fmt.Fprintf(w, " %s %d", row, byRow[row])
	}
	fmt.Fprintf(w, "; to do: %d\n", unknown)
	return unknown, nil
}

// difference is a declaration that one release lacks, or that reads otherwise in the other.
type difference struct {
	name, how string
	old, now  *declared
}

// differences lists what can make an answer differ. What is new or gone counts where nothing that
// calls it has to have changed: methods of types that both have, which may satisfy an interface,
// and init. A gate counts for its default. Types decide nothing by themselves.
func differences(old, now map[string]*declared) (list []difference) {
	counts := func(d *declared, other map[string]*declared) bool {
		return d.starts || d.of != "" && other[d.of] != nil
	}
	for name, o := range old {
		switch n := now[name]; {
		case o.isType:
		case n == nil && counts(o, now):
			list = append(list, difference{name, "removed", o, nil})
		case n != nil && n.tokens != o.tokens:
			list = append(list, difference{name, "changed", o, n})
		}
	}
	for name, n := range now {
		if old[name] == nil && (counts(n, old) || strings.HasPrefix(name, gatePrefix)) {
			list = append(list, difference{name, "added", nil, n})
		}
	}
	slices.SortFunc(list, func(a, b difference) int { return strings.Compare(a.name, b.name) })
	return list
}

// write puts both texts below out, without comments.
func (d *difference) write(o options) error {
	for release, text := range map[string]*declared{o.from: d.old, o.to: d.now} {
		if text == nil {
			continue
		}
		path := filepath.Join(o.out, release, filepath.FromSlash(d.name)+".go")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text.source), 0o644); err != nil {
			return err
		}
	}
	return nil
}
