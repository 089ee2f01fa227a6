package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// check builds the release twice, in two clones at paths of different length and with two empty
// build caches, and compares every byte.
func check(o *options) error {
	r, err := describe(o)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "berth-check")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	source, err := filepath.Abs(o.source)
	if err != nil {
		return err
	}
	var outs []string
	for _, name := range []string{"a", "another-folder"} {
		dir := filepath.Join(work, name)
		if _, err := command(work, nil, "git", "clone", "--quiet", source, dir); err != nil {
			return err
		}
		// The commit of now: the branch may go on meanwhile.
		if _, err := command(dir, nil, "git", "checkout", "--quiet", "--detach", r.commit); err != nil {
			return err
		}
		if !o.warm {
			if err := os.Setenv("GOCACHE", filepath.Join(work, "cache-"+name)); err != nil {
				return err
			}
		}
		one := *o
		one.source, one.out = dir, filepath.Join(work, "dist-"+name)
		// What is built here is thrown away, so that any address does.
		one.url, one.maintainer = cmp.Or(o.url, "https://example.org"), cmp.Or(o.maintainer, "Example <release@example.org>")
		if err := build(&one); err != nil {
			return err
		}
		outs = append(outs, one.out)
	}
	files, err := os.ReadDir(outs[0])
	if err != nil {
		return err
	}
	others, err := os.ReadDir(outs[1])
	if err != nil {
		return err
	}
	if len(files) != len(others) {
		return fmt.Errorf("%d files, and then %d", len(files), len(others))
	}
	var problems []error
	for _, f := range files {
		a, err1 := os.ReadFile(filepath.Join(outs[0], f.Name()))
		b, err2 := os.ReadFile(filepath.Join(outs[1], f.Name()))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			problems = append(problems, fmt.Errorf("%s differs", f.Name()))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(outs[0], "checksums.txt"))
	fmt.Printf("built twice, %d files with the same bytes:\n%s", len(files), sums)
	return err
}
