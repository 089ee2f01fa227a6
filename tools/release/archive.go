package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file, a directory (its name ends in a slash) or a symbolic link of an archive.
type entry struct {
	name, link string
	mode       int64
	owner      int
	body       []byte
}

// contents are what an archive, a package and an image have in common.
type contents struct {
	server, berth, licence, notices, readme, changelog, bill []byte
	texts                                                    map[string][]byte
}

func (r *release) contents(programs string, notices, bill []byte) (*contents, error) {
	c := &contents{notices: notices, bill: bill, texts: r.texts}
	for file, into := range map[string]*[]byte{
		filepath.Join(programs, "server"): &c.server, filepath.Join(programs, "berth"): &c.berth,
		filepath.Join(r.source, "LICENSE"): &c.licence, filepath.Join(r.source, "README.md"): &c.readme,
		filepath.Join(r.source, "CHANGELOG.md"): &c.changelog,
	} {
		var err error
		if *into, err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// archive is the tar.gz that people download.
func (c *contents) archive(at time.Time) ([]byte, error) {
	list := []entry{
		{name: "server", mode: 0o755, body: c.server},
		{name: "berth", mode: 0o755, body: c.berth},
		{name: "LICENSE", mode: 0o644, body: c.licence},
		{name: "README.md", mode: 0o644, body: c.readme},
		{name: "THIRD-PARTY-NOTICES.txt", mode: 0o644, body: c.notices},
		{name: "sbom.cdx.json", mode: 0o644, body: c.bill},
	}
	for file, text := range c.texts {
		dir := "completions/"
		if strings.HasSuffix(file, ".1") || strings.HasSuffix(file, ".8") {
			dir = "man/"
		}
		list = append(list, entry{name: dir + file, mode: 0o644, body: text})
	}
	raw, err := pack(list, at)
	if err != nil {
		return nil, err
	}
	return compress(raw)
}

// pack writes a tar of entries in the order of their names, after the directories they lie in.
func pack(list []entry, at time.Time) ([]byte, error) {
	known := map[string]bool{}
	for _, e := range list {
		known[e.name] = true
	}
	for _, e := range slices.Clone(list) {
		for i, c := range strings.TrimSuffix(e.name, "/") {
			if dir := e.name[:i+1]; c == '/' && dir != "./" && !known[dir] {
				known[dir] = true
				list = append(list, entry{name: dir, mode: 0o755})
			}
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range list {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.body)), ModTime: at, Uid: e.owner, Gid: e.owner, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		switch {
		case strings.HasSuffix(e.name, "/"):
			h.Typeflag = tar.TypeDir
		case e.link != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.body); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// compress writes gzip without a name and a time.
func compress(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// chart packs the Helm chart, as `helm package` would.
func (r *release) chart() error {
	root := filepath.Join(r.source, "deploy/chart")
	tracked, err := command(root, nil, "git", "ls-files")
	if err != nil {
		return err
	}
	var list []entry
	for name := range strings.Lines(string(tracked)) {
		name = strings.TrimSpace(name)
		body, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		list = append(list, entry{name: "berth/" + name, mode: 0o644, body: body})
	}
	if len(list) == 0 {
		return nil
	}
	raw, err := pack(list, r.time)
	if err != nil {
		return err
	}
	packed, err := compress(raw)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "berth-"+strings.TrimPrefix(r.version, "v")+".tgz"), packed, 0o644)
}

// checksums writes checksums.txt in the form of sha256sum.
func (r *release) checksums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(raw), f.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "checksums.txt"), []byte(b.String()), 0o644)
}
