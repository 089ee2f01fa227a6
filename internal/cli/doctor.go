package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
