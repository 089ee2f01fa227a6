package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// phrases identify licences by their SPDX identifier: all of one row stand in its text. Only these
// may be in a release; a text that fits none stops it.
var phrases = []struct {
	id   string
	text []string
}{
	{"Apache-2.0", []string{"apache license version 2.0"}},
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy", "the software is provided \"as is\""}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"ISC", []string{"permission to use, copy, modify, and", "distribute this software for any purpose with or without fee is hereby granted"}},
	{"MPL-2.0", []string{"mozilla public license", "version 2.0"}},
	{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}},
	{"blessing", []string{"sqlite is public domain"}}, // SPDX has SQLite under this name
}

var (
	spaces      = regexp.MustCompile(`[\s,]+`)
	elsewhere   = regexp.MustCompile(`(?i)(\.go|\.docs|-logo)$`) // of what no release has
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)([.-].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^notice`)
)

func plain(text string) string {
	text = strings.NewReplacer("“", `"`, "”", `"`, "''", `"`, "``", `"`, "*", " ", "//", " ", "#", " ").Replace(strings.ToLower(text))
	return spaces.ReplaceAllString(text, " ")
}

// classify returns the identifiers of the licences that a text holds, most of them one.
func classify(text string) (ids []string) {
	text = plain(text)
	for _, p := range phrases {
		if !slices.ContainsFunc(p.text, func(s string) bool { return !strings.Contains(text, plain(s)) }) &&
			(p.id != "BSD-2-Clause" || !slices.Contains(ids, "BSD-3-Clause")) {
			ids = append(ids, p.id)
		}
	}
	return ids
}

// ours begins the names of modules that are of the repository, such as berth/client.
const ours = "berth/"

// module is one that is linked in, with its licences.
type module struct {
	path, version string
	ids           []string
	texts         []string
}

type modulesOf []module

// listed is what `go list -deps -json` writes of a package.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Version string } // by another version of itself
	}
}

// collect finds the licences of the modules that the programs are linked from, of Go itself, and of
// what is embedded.
func collect(source string, p platform) (modulesOf, error) {
	out, err := command(source, p.settings(), "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", "./cmd/server", "./cmd/berth")
	if err != nil {
		return nil, err
	}
	found := map[string]*module{}
	dirs := map[string]bool{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var l listed
		if err := d.Decode(&l); err != nil {
			return nil, err
		}
		if l.Module == nil || l.Module.Main || strings.HasPrefix(l.Module.Path, ours) {
			continue
		}
		m := found[l.Module.Path]
		if m == nil {
			m = &module{path: l.Module.Path, version: l.Module.Version}
			if r := l.Module.Replace; r != nil {
				m.version = r.Version
			}
			found[m.path] = m
		}
		for dir := l.Dir; len(dir) >= len(l.Module.Dir); dir = filepath.Dir(dir) {
			if !dirs[dir] {
				dirs[dir] = true
				if err := m.read(dir); err != nil {
					return nil, err
				}
			}
		}
	}
	goroot, err := command(source, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	ui, err := os.ReadFile(filepath.Join(source, "internal/handlers/swaggerui/VERSION"))
	if err != nil {
		return nil, err
	}
	for dir, m := range map[string]*module{
		strings.TrimSpace(string(goroot)):                    {path: "std", version: runtime.Version()},
		filepath.Join(source, "internal/handlers/swaggerui"): {path: "swagger-ui", version: strings.TrimSpace(string(ui))},
	} {
		if err := m.read(dir); err != nil {
			return nil, err
		}
		found[m.path] = m
	}
	var list modulesOf
	for _, m := range found {
		if len(m.ids) == 0 {
			return nil, fmt.Errorf("%s %s has no licence file: it may not be in a release", m.path, m.version)
		}
		slices.Sort(m.ids)
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// read adds the licences and notices of a directory.
func (m *module) read(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) && !strings.HasSuffix(f.Name(), ".LICENSE.txt") || elsewhere.MatchString(f.Name()) {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(raw), "\r\n", "\n"))
		ids := classify(text)
		if len(ids) == 0 && !noticeFile.MatchString(f.Name()) && !strings.HasSuffix(f.Name(), ".LICENSE.txt") {
			return fmt.Errorf("%s %s: %s is under a licence that tools/release does not know: read it, and add it to phrases if it may be in a release", m.path, m.version, f.Name())
		}
		for _, id := range ids {
			if !slices.Contains(m.ids, id) {
				m.ids = append(m.ids, id)
			}
		}
		if !slices.Contains(m.texts, text) {
			m.texts = append(m.texts, text)
		}
	}
	return nil
}

// notices is the text file with the licences of all modules, each text once.
func (l modulesOf) notices(version string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "berth %s is under the Apache License 2.0 (LICENSE). It is linked from the following.\nThe source of each module is served by the Go module proxy under its path and version.\n\n", version)
	for _, m := range l {
		fmt.Fprintf(&b, "%s %s: %s\n", m.path, m.version, strings.Join(m.ids, " AND "))
	}
	users := map[string][]string{}
	var order []string
	for _, m := range l {
		for _, text := range m.texts {
			if users[text] == nil {
				order = append(order, text)
			}
			users[text] = append(users[text], m.path)
		}
	}
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(users[text], "\n"), text)
	}
	return []byte(b.String())
}

// checkLicences collects the licences for every platform, without building.
func checkLicences(o *options) error {
	for _, p := range o.platforms {
		list, err := collect(o.source, p)
		if err != nil {
			return err
		}
		count := map[string]int{}
		for _, m := range list {
			count[strings.Join(m.ids, " AND ")]++
		}
		fmt.Printf("%s: %d modules, %v\n", p, len(list), count)
	}
	return nil
}
