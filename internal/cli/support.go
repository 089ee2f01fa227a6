package cli

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/words"
)

// mostFiles bounds the files of a data directory that are listed.
const mostFiles = 1000

// collected are the files of a bundle that the admin listener has.
var collected = []struct{ file, path string }{
	{"statusz.json", "/statusz"},
	{"flagz.json", "/flagz"},
	{"doctorz.json", "/doctorz"},
	{"log.ndjson", "/logz"},
	{"metrics.txt", "/metrics"},
	{"goroutines.txt", "/debug/pprof/goroutine"},
}

type supportOptions struct {
	admin, dataDir, file string
	names                bool
}

func (a *app) supportCommand() *cobra.Command {
	var o supportOptions
	c := &cobra.Command{
		Use: "support", Short: "What to send along with a question about a server?", Args: cobra.NoArgs,
		Long: `Writes what a server's admin listener tells into a file: version, state, settings,
findings of doctor, the newest log lines, metrics and all goroutines, and the
sizes of the files in its data directory. Nothing of an object is in it, and no
name of a cluster unless --names is set.`,
		Example: "  berth support --admin 127.0.0.1:6060",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.support(cmd.Context(), o) },
	}
	f := c.Flags()
	a.adminFlag(f, &o.admin)
	f.StringVar(&o.dataDir, "data-dir", "", "the server's data directory: the sizes of its files")
	f.BoolVar(&o.names, "names", false, "keep the names of clusters and objects")
	f.StringVarP(&o.file, "file", "f", "", "file to write, which must not exist; by default berth-support-TIME.tar.gz")
	return c
}

func (a *app) support(ctx context.Context, o supportOptions) (err error) {
	if err := a.o.check(); err != nil {
		return err
	}
	if o.admin == "" && o.dataDir == "" {
		return &problem{what: "nothing to collect from", next: "Name the admin listener of the server with --admin, or its --data-dir."}
	}
	now := a.Now().UTC()
	if o.file == "" {
		o.file = "berth-support-" + now.Format("20060102T150405Z") + ".tar.gz"
	}
	out, err := os.OpenFile(o.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	b := &bundle{at: now}
	version, err := json.MarshalIndent(a.version, "", "  ")
	if err != nil {
		return fmt.Errorf("write the version: %w", err)
	}
	b.add("berth.json", version, nil)
	if o.admin != "" {
		from := newAdmin(o.admin)
		for _, c := range collected {
			query := "?debug=2"
			if !o.names {
				query += "&names=hidden"
			}
			body, err := from.get(ctx, c.path+query)
			b.add(c.file, body, err)
		}
	}
	if o.dataDir != "" {
		list, err := listFiles(o.dataDir)
		b.add("files.txt", list, err)
	}
	if err := b.write(out); err != nil {
		return fmt.Errorf("write %s: %w", o.file, err)
	}
	if b.found == 0 {
		return &problem{what: "nothing was collected", why: errors.Join(b.failed...), next: o.file + " holds the reasons alone."}
	}
	for _, err := range b.failed {
		a.note("left out: %v", err)
	}
	_, err = fmt.Fprintf(a.Out, "%s: %s, %s\n", o.file, words.Plural(b.found+1, "file"), words.Size(b.bytes))
	return err
}

// bundle is what is written.
type bundle struct {
	at     time.Time
	files  []bundled
	found  int // beside the version
	bytes  int64
	failed []error
}

type bundled struct {
	name string
	body []byte
}

// add adds a file, or the reason why it is missing.
func (b *bundle) add(name string, body []byte, err error) {
	if err != nil {
		b.failed = append(b.failed, fmt.Errorf("%s: %w", name, err))
		return
	}
	if len(b.files) > 0 {
		b.found++
	}
	b.bytes += int64(len(body))
	b.files = append(b.files, bundled{name, body})
}

func (b *bundle) write(to io.Writer) error {
	files := b.files
	if err := errors.Join(b.failed...); err != nil {
		files = append(files, bundled{"missing.txt", []byte(err.Error() + "\n")})
	}
	zip := gzip.NewWriter(to)
	archive := tar.NewWriter(zip)
	for _, f := range files {
		h := &tar.Header{Name: "berth-support/" + f.name, Mode: 0o600, Size: int64(len(f.body)), ModTime: b.at}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		if _, err := archive.Write(f.body); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zip.Close())
}

// listFiles lists the files below a directory with their sizes and modes, and opens none.
func listFiles(dir string) (list []byte, err error) {
	n := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case err != nil || d.IsDir():
			return nil //nolint:nilerr // files come and go while a server runs
		case n == mostFiles:
			list = fmt.Appendf(list, "and more\n")
			return filepath.SkipAll
		}
		n++
		if info, err := d.Info(); err == nil {
			within, _ := filepath.Rel(dir, path) // it is below
			list = fmt.Appendf(list, "%s %12d %s\n", info.Mode(), info.Size(), within)
		}
		return nil
	})
	return list, err
}
