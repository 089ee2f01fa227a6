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
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/apiclient"
	"berth/internal/ops/doctor"
	"berth/internal/words"
)

type doctorOptions struct{ admin, scheduler string }

func (a *app) doctorCommand() *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use: "doctor", Short: "Is the server well, and does kube-scheduler fit it?", Args: cobra.NoArgs,
		Long: `Asks a running server for what it finds wrong around it, by its admin listener,
and checks kube-scheduler's configuration against its settings. server doctor
checks the same before a server runs. Exit codes: 0 in order, 1 warnings,
2 problems.`,
		Example: "  berth doctor --admin 127.0.0.1:6060 --scheduler-config kube-scheduler.yaml",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), o) },
	}
	f := c.Flags()
	a.adminFlag(f, &o.admin)
	f.StringVar(&o.scheduler, "scheduler-config", "", "kube-scheduler's configuration, to check its extenders")
	return c
}

func (a *app) doctor(ctx context.Context, o doctorOptions) error {
	if err := a.o.check(); err != nil {
		return err
	}
	if o.admin == "" && a.o.server == "" && o.scheduler == "" {
		return &problem{what: "nothing to check", next: "Name a server with --server or its admin listener with --admin, or a file with --scheduler-config."}
	}
	var list []doctor.Finding
	// What a server has unless it tells otherwise.
	facts := doctor.Server{Deadline: 4 * time.Second, BindTimeout: 3 * time.Second}
	if a.o.server != "" {
		list = append(list, a.reach(ctx)...)
	}
	if o.admin != "" {
		list = append(list, a.askDoctor(ctx, newAdmin(o.admin), &facts)...)
	}
	if o.scheduler != "" {
		raw, err := os.ReadFile(o.scheduler)
		if err != nil {
			return fmt.Errorf("--scheduler-config: %w", err)
		}
		found, _ := doctor.Scheduler(raw, facts)
		list = append(list, found...)
	}
	if a.o.output == formJSON {
		raw, err := json.Marshal(list)
		if err == nil {
			err = a.json(raw)
		}
		if err != nil {
			return err
		}
	} else if _, err := fmt.Fprint(a.Out, doctor.Text(list)); err != nil {
		return err
	}
	switch doctor.ExitCode(list) {
	case 0:
		return nil
	case 1:
		return errWarned
	}
	return errNo
}

// reach checks that a server answers and is ready.
func (a *app) reach(ctx context.Context) []doctor.Finding {
	r := &doctor.Report{Check: "server"}
	s, err := newServer(a)
	if err == nil {
		_, err = s.call(ctx, "GET", nil, nil, "readyz")
	}
	if err != nil {
		r.Fail("Start the server, and read its /readyz and its log.", "%s is not ready: %v", words.Address(a.o.server), err)
	} else {
		r.Good("%s is ready", a.o.server)
	}
	return r.Findings
}

// askDoctor returns what a running server finds, compares its version with this program's, and
// fills in what kube-scheduler has to fit.
func (a *app) askDoctor(ctx context.Context, from *admin, facts *doctor.Server) []doctor.Finding {
	r := &doctor.Report{Check: "server"}
	var status struct {
		Version  string `json:"version"`
		Clusters []struct {
			Name   string          `json:"name"`
			Follow json.RawMessage `json:"follow"`
		} `json:"clusters"`
	}
	var flags []struct{ Name, Value string }
	var found []doctor.Finding
	for path, into := range map[string]any{"/statusz": &status, "/flagz": &flags, "/doctorz": &found} {
		body, err := from.get(ctx, path)
		if err == nil {
			err = json.Unmarshal(body, into)
		}
		if err != nil {
			r.Fail("Start the server with --admin-listen, or forward its port.", "%s of %s: %v", path, from.address, err)
			return r.Findings
		}
	}
	r.Check = "version"
	if status.Version != a.version.Version {
		r.Warn("Use the program of the server's version.", "the server is %s, and this program is %s", status.Version, a.version.Version)
	} else {
		r.Good("the server and this program are %s", status.Version)
	}
	facts.Followed = []string{}
	for _, c := range status.Clusters {
		if len(c.Follow) > 0 {
			facts.Followed = append(facts.Followed, c.Name)
		}
	}
	value := func(name string) string {
		i := slices.IndexFunc(flags, func(f struct{ Name, Value string }) bool { return f.Name == name })
		if i < 0 {
			return ""
		}
		return strings.Trim(flags[i].Value, `"`)
	}
	listener := ""
	if value("extender-listen") != "" {
		listener = "extender-"
	}
	facts.TLS, facts.ClientCerts = value(listener+"tls-cert") != "", value(listener+"tls-client-ca") != ""
	facts.BindUnrecorded = value("bind-unasked") == "true"
	for name, into := range map[string]*time.Duration{"extender-deadline": &facts.Deadline, "bind-timeout": &facts.BindTimeout} {
		if d, err := time.ParseDuration(value(name)); err == nil {
			*into = d
		}
	}
	return append(r.Findings, found...)
}

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

// admin is the admin listener of a server.
type admin struct {
	address string
	client  *http.Client
}

func (a *app) adminFlag(f *pflag.FlagSet, address *string) {
	f.StringVar(address, "admin", a.Env("BERTH_ADMIN_LISTEN"), "HOST:PORT of the server's admin listener [$BERTH_ADMIN_LISTEN]")
}

func newAdmin(address string) *admin {
	address = strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/")
	return &admin{address: address, client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// get reads a path, as JSON where it has that.
func (d *admin) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.address+path, nil)
	if err != nil {
		return nil, fmt.Errorf("--admin: %w", err)
	}
	req.Header.Set("Accept", "application/json, text/plain")
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, &problem{what: "ask the admin listener", why: err, next: "Is the server started with --admin-listen? Elsewhere: kubectl port-forward."}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, apiclient.MaxAnswer))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", path, resp.Status, body)
	}
	return body, err
}
