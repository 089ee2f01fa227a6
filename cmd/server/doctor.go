package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"berth/internal/decision"
	"berth/internal/kube/follow"
	"berth/internal/ops/certs"
	"berth/internal/ops/doctor"
	"berth/internal/semantics"
)

type doctorCmd struct {
	settings
	SchedulerConfig string `placeholder:"FILE" help:"kube-scheduler's configuration, to check its extenders and profiles against these settings."`
	Output          string `short:"o" default:"text" enum:"text,json" help:"text or json."`
}

// patience bounds each check that waits for another machine.
const patience = 15 * time.Second

// Run checks the settings and what they lead to. It ends with 0 where all is in order, 1 with
// warnings, 2 with problems.
func (c *doctorCmd) Run(ctx context.Context, k *kong.Context, s streams) error {
	c.inForce(k, slog.New(slog.DiscardHandler))
	var file []byte
	if c.SchedulerConfig != "" {
		var err error
		if file, err = os.ReadFile(c.SchedulerConfig); err != nil {
			return fmt.Errorf("--scheduler-config: %w", err)
		}
	}
	list := c.examine(ctx, file)
	if c.Output == "json" {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		if err := e.Encode(list); err != nil {
			return err
		}
	} else if _, err := fmt.Fprint(s.out, doctor.Text(list)); err != nil {
		return err
	}
	if code := doctor.ExitCode(list); code != 0 {
		return exitError(code)
	}
	return nil
}

// examine checks the settings and what they lead to. scheduler is kube-scheduler's configuration;
// nil: it is not checked.
func (s *settings) examine(ctx context.Context, scheduler []byte) []doctor.Finding {
	list, facts := s.examineSettings()
	list = append(list, s.examineStore(ctx)...)
	listeners := 1
	for _, address := range []string{s.Extender.Listen, s.MetricsListen} {
		if address != "" {
			listeners++
		}
	}
	list = append(list, doctor.Files(listeners, s.Limits.MaxConnections)...)
	var targets []doctor.Target
	if scheduler != nil {
		var more []doctor.Finding
		more, targets = doctor.Scheduler(scheduler, facts)
		list = append(list, more...)
	}
	list = append(list, s.examineCertificates(targets)...)
	sources := s.Kube.sources()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		list = append(list, examineCluster(ctx, name, sources[name], s.Semantics.of(name))...)
	}
	return list
}

// examineSettings checks what a server refuses to start with.
func (s *settings) examineSettings() ([]doctor.Finding, doctor.Server) {
	r := &doctor.Report{Check: "settings"}
	of := &s.TLS
	if s.Extender.Listen != "" {
		of = &s.Extender.TLS
	}
	facts := doctor.Server{
		Deadline: s.Limits.ExtenderDeadline, BindTimeout: s.Kube.BindTimeout, BindUnrecorded: s.Kube.BindUnrecorded,
		Semantics: s.Semantics.value(), TLS: of.on(), ClientCerts: of.ClientCA != "", Followed: slices.Collect(maps.Keys(s.Kube.sources())),
	}
	if facts.Followed == nil {
		facts.Followed = []string{}
	}
	conf, err := s.profiles()
	if err == nil {
		facts.Profiles = conf.Profiles
		var all *decision.Configuration
		if all, err = s.configured(conf); err == nil {
			facts.Clusters = all.Clusters
		}
	}
	if err := errors.Join(s.validate(), s.Limits.CheckMemory(0), err); err != nil {
		for line := range strings.Lines(err.Error()) {
			r.Fail("Change the flag or its environment variable; the server would not start.", "%s", strings.TrimSpace(line))
		}
		return r.Findings, facts
	}
	r.Good("a server would start with these settings")
	if s.DatabaseUnsafe {
		r.Warn("Leave out --database-unsafe and correct the database.", "--database-unsafe: a database that may lose records is accepted")
	}
	return r.Findings, facts
}

// examineCertificates checks the files of the listeners. Targets are how kube-scheduler reaches the
// one that serves its calls.
func (s *settings) examineCertificates(targets []doctor.Target) (list []doctor.Finding) {
	check := func(name string, t *tlsSettings, targets []doctor.Target) {
		if !t.on() {
			return
		}
		var names []string
		var roots *x509.CertPool
		for _, t := range targets {
			names, roots = append(names, t.Name), cmp.Or(roots, t.Roots)
		}
		files := certs.Files{Cert: t.Cert, Key: t.Key, ClientCA: t.ClientCA, ClientNames: t.ClientNames}
		list = append(list, doctor.Certificate(name, files, names, roots, time.Now())...)
	}
	if s.Extender.Listen == "" {
		check("--tls-cert", &s.TLS, targets)
		return list
	}
	check("--tls-cert", &s.TLS, nil)
	check("--extender-tls-cert", &s.Extender.TLS, targets)
	return list
}

func examineCluster(ctx context.Context, name, path string, decides *semantics.Release) []doctor.Finding {
	c, err := follow.Config(path)
	if err != nil {
		r := &doctor.Report{Check: "apiserver", Cluster: name}
		r.Fail("Give --follow a kubeconfig with a token or a client certificate, which the server may read.", "%v", err)
		return r.Findings
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return doctor.Cluster(ctx, name, c, decides)
}
