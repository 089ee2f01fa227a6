package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var at = time.Unix(1700000000, 0).UTC()

// TestClassify: texts as modules have them, with comment marks and other quotes, and one that no
// release may have.
func TestClassify(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"                                 Apache License\n                           Version 2.0, January 2004", "Apache-2.0"},
		{"Permission is hereby granted, free of charge, to any person obtaining a copy\nof this… THE SOFTWARE IS PROVIDED “AS IS”", "MIT"},
		{"// Redistribution and use in source and binary\n// forms, with or without … Neither the name of Google", "BSD-3-Clause"},
		{"Redistribution and use in source and binary forms … without more", "BSD-2-Clause"},
		{"Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided", "ISC"},
		{"Mozilla Public License, version 2.0", "MPL-2.0"},
		{"Apache License Version 2.0 … Redistribution and use in source and binary forms … neither the name", "Apache-2.0 BSD-3-Clause"},
		{"GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007", ""},
		{"All rights reserved.", ""},
	} {
		if got := strings.Join(classify(c.text), " "); got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
}

// TestUnknownLicence: a module whose licence is not known stops the release, by its name.
func TestUnknownLicence(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/LICENSE", "Do what you pay for.")
	m := &module{path: "example.com/m", version: "v1.0.0"}
	if err := m.read(dir); err == nil || !strings.Contains(err.Error(), "example.com/m v1.0.0") {
		t.Errorf("it is taken: %v", err)
	}
	write(t, dir+"/LICENSE", "Mozilla Public License, version 2.0")
	write(t, dir+"/LICENSE-LOGO", "The logo is ours.")
	write(t, dir+"/license.go", "package m")
	if err := m.read(dir); err != nil || len(m.ids) != 1 || len(m.texts) != 1 {
		t.Errorf("%v: %v", m.ids, err)
	}
	text := string(modulesOf{*m, {path: "example.com/n", version: "v2.0.0", ids: m.ids, texts: m.texts}}.notices("v9"))
	if strings.Count(text, "Mozilla Public License") != 1 || !strings.Contains(text, "example.com/m\nexample.com/n\n") {
		t.Errorf("a text is there once, below all that it is of:\n%s", text)
	}
}

// TestPack: the bytes depend on neither order nor owner of what is packed, and directories come
// before what is in them.
func TestPack(t *testing.T) {
	list := []entry{{name: "./u/v", mode: 0o644}, {name: "b/c/d", mode: 0o644, body: []byte("d")}, {name: "a", mode: 0o777, link: "b"}, {name: "data/", mode: 0o700, owner: 65532}}
	one, err := pack(list, at)
	if err != nil {
		t.Fatal(err)
	}
	list[0], list[3] = list[3], list[0]
	two, err := pack(list, at)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, two) {
		t.Error("another order makes other bytes")
	}
	var names []string
	for r := tar.NewReader(bytes.NewReader(one)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(at) || h.Uname != "" || h.Uid != map[string]int{"data/": 65532}[h.Name] {
			t.Errorf("%+v", h)
		}
		names = append(names, h.Name)
	}
	if got := strings.Join(names, " "); got != "./u/ ./u/v a b/ b/c/ b/c/d data/" {
		t.Error(got)
	}
	// The end of an archive is two empty blocks, and of gzip the sum.
	packed, err := compress(one)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := io.ReadAll(plain); err != nil || !bytes.Equal(back, one) || !bytes.HasSuffix(one, make([]byte, 1024)) {
		t.Errorf("%d bytes of %d: %v", len(back), len(one), err)
	}
}

// TestArchive: the form of deb(5), whose members begin at even offsets.
func TestArchive(t *testing.T) {
	got := string(archive([]entry{{name: "debian-binary", body: []byte("2.0\n")}, {name: "odd", body: []byte("x")}, {name: "end", body: []byte("yz")}}, at))
	want := "!<arch>\n" +
		"debian-binary   1700000000  0     0     100644  4         `\n2.0\n" +
		"odd             1700000000  0     0     100644  1         `\nx\n" +
		"end             1700000000  0     0     100644  2         `\nyz"
	if got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestRoots(t *testing.T) {
	if n := bytes.Count(roots(), []byte("BEGIN CERTIFICATE")); n < 100 {
		t.Errorf("%d certificates", n)
	}
}

// TestOptions: an address is given, or what needs it is left out; none is made up.
func TestOptions(t *testing.T) {
	for _, o := range []options{{}, {url: "https://example.org/berth", maintainer: "A Person <a@example.org>"}} {
		if err := o.validate(); err != nil {
			t.Error(err)
		}
	}
	for flag, o := range map[string]options{"-url": {url: "example.org"}, "-maintainer": {maintainer: "a@example.org"}} {
		if err := o.validate(); err == nil || !strings.HasPrefix(err.Error(), flag+":") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestModulesPage: modules.md has what is linked in today (make -s modules).
func TestModulesPage(t *testing.T) {
	page, err := os.ReadFile("modules.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := collect("../..", platform{"linux", "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\S+) \| (\S+) \| (\S*) ?\| (.+) \|$`)
	var want, got []string
	for _, m := range list {
		want = append(want, fmt.Sprint(m.path, " ", m.version, " ", strings.Join(m.ids, " AND ")))
	}
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(r[1], ".") != (len(r[3]) == len("2006-01-02")) && r[1] != "module" && r[1] != "---" {
			t.Errorf("%s is of %q", r[1], r[3])
		}
		if r[1] != "module" && r[1] != "---" {
			got = append(got, fmt.Sprint(r[1], " ", r[2], " ", r[4]))
		}
	}
	if !slices.Equal(want, got) {
		t.Errorf("make -s modules >tools/release/modules.md; it has\n%s\nand\n%s\nis linked in", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestVuln: vulnerabilities fail, whatever their text holds, and data that is out of reach is named.
func TestVuln(t *testing.T) {
	for _, c := range []struct {
		prints string
		code   int
		want   string
	}{
		{"No vulnerabilities found.", 0, ""},
		{"Vulnerability #1: GO-2026-0403: dial tcp\nexit status 3", 3, ""},
		{"fetching vulnerabilities: no such host\nexit status 1", 2, "NOT CHECKED"},
		{"no required module\nexit status 1", 1, ""},
	} {
		dir, code := t.TempDir(), min(strings.Count(c.prints, "exit status"), 1)
		for name, text := range map[string]string{"go": fmt.Sprintf("echo '%s'; exit %d", c.prints, code), "make": "echo modules"} {
			if err := os.WriteFile(dir+"/"+name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("../../script/vuln.sh", "v0")
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || strings.Contains(string(out), "NOT CHECKED") != (c.want != "") {
			t.Errorf("%q ends with %d:\n%s", c.prints, code, out)
		}
	}
}

// TestDebianBytes: the package is the same each time, its list of sums as well, which was written in
// the order of maps.
func TestDebianBytes(t *testing.T) {
	var first []byte
	for range 20 {
		r := &release{options: &options{source: "../..", out: t.TempDir(), maintainer: "Example <release@example.org>"}, version: "v0.0.0", time: at}
		if err := r.debian("amd64", &contents{}); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(r.out, "berth_0.0.0_amd64.deb"))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = raw
		}
		if !bytes.Equal(first, raw) {
			t.Fatal("another build has other bytes")
		}
	}
}
