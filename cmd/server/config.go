package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"berth/internal/engine/state"
	"berth/internal/handlers"
	"berth/internal/profiles"
)

// settings are everything that can be set of a server.
type settings struct {
	Listen            string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to serve on; port 0 picks a free one."`
	Insecure          bool          `help:"Serve on an address that others can reach, without TLS or authentication."`
	AllowedHosts      []string      `placeholder:"NAME" help:"Names under which the server answers beside localhost: others are refused. Without any, only requests to a loopback address are held to loopback's names."`
	TLS               tlsSettings   `embed:"" prefix:"tls-"`
	Extender          extender      `embed:"" prefix:"extender-"`
	Kube              kubeSettings  `embed:""`
	ReadyFile         string        `placeholder:"PATH" help:"File to write HOST:PORT to once the server is ready."`
	DataDir           string        `default:"./data" placeholder:"DIR" help:"Directory of the embedded store."`
	DatabaseURL       string        `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store, for any number of servers. Run server migrate up first. With a password set it by the environment: arguments can be read by every user of the machine."`
	DatabaseUnsafe    bool          `help:"Serve from a database whose settings may lose what was answered; each is logged."`
	Audit             string        `default:"strict" enum:"strict,relaxed" help:"strict: no answer without its durable record. relaxed: answers do not wait; what is lost is counted, and a gap in the log."`
	SpoolDir          string        `placeholder:"DIR" help:"Where decisions are kept while Postgres is away; DIR/spool under --data-dir if not set."`
	SpoolLimit        int64         `default:"1073741824" placeholder:"BYTES" help:"The most bytes that the spool may hold; beyond it nothing is answered that would have to be recorded."`
	KeepDecisions     age           `placeholder:"AGE" help:"Delete decisions that are older, such as 90d or 2160h; without it all are kept."`
	KeepRevisions     age           `placeholder:"AGE" help:"Delete superseded revisions that are older and that no decision references, such as 7d or 168h; at least 1h; without it all are kept."`
	PollInterval      time.Duration `default:"500ms" help:"How often a server on Postgres asks for what other servers wrote."`
	Config            string        `placeholder:"FILE" help:"KubeSchedulerConfiguration to decide under; without it upstream's default."`
	LogLevel          string        `default:"info" enum:"debug,info,warn,error" help:"debug, info, warn or error."`
	LogFormat         string        `default:"auto" enum:"auto,text,json" help:"text, json, or auto: text on a terminal, else json."`
	OTLPEndpoint      string        `name:"otlp-endpoint" placeholder:"URL" help:"Where to send traces by OTLP over HTTP; without it none are sent."`
	AutoMemory        bool          `default:"true" negatable:"" help:"Take the memory limit from the container, at 85 percent, where GOMEMLIMIT is not set."`
	DrainDelay        time.Duration `default:"0s" help:"How long calls are still taken on SIGTERM while /readyz says no, so that whoever sends calls here notices first."`
	ShutdownTimeout   time.Duration `default:"30s" help:"How long calls on their way may take to end."`
	TolerationSeconds bool          `name:"default-toleration-seconds" help:"Admit pods that are applied or decided on with the plugin DefaultTolerationSeconds: they tolerate a node that is lost for 300 s."`
	CheckpointEvery   int           `default:"500" help:"Changes after which a whole state is written."`

	Limits handlers.Limits `embed:"" group:"limits"`
}

func (s *settings) backend() backend {
	return backend{dir: s.DataDir, url: s.DatabaseURL, unsafe: s.DatabaseUnsafe}
}

// spoolDir is where decisions wait for Postgres.
func (s *settings) spoolDir() string {
	if s.SpoolDir != "" {
		return s.SpoolDir
	}
	return filepath.Join(s.DataDir, "spool")
}

// validate checks the settings; its messages name the flags.
func (s *settings) validate() error {
	var errs []error
	fail := func(text string) { errs = append(errs, errors.New(text)) }
	if s.DatabaseURL != "" {
		if u, err := url.Parse(s.DatabaseURL); err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
			fail("--database-url (or DATABASE_URL) must be a URL such as postgres://user@host:5432/berth") // not quoted: it may hold a password
		}
	}
	if s.KeepRevisions != 0 && time.Duration(s.KeepRevisions) < time.Hour {
		fail("--keep-revisions must be at least 1h: decisions on their way to the store refer to revisions")
	}
	if s.PollInterval != 0 && s.PollInterval < 10*time.Millisecond {
		fail("--poll-interval must be at least 10ms")
	}
	errs = append(errs, s.checkListeners(), s.Kube.validate())
	if s.DataDir == "" {
		fail("--data-dir must not be empty")
	}
	if s.OTLPEndpoint != "" {
		if u, err := url.Parse(s.OTLPEndpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			fail("--otlp-endpoint must be an http or https URL, such as http://localhost:4318")
		}
	}
	if s.ShutdownTimeout <= 0 {
		fail("--shutdown-timeout must be above zero")
	}
	if s.DrainDelay < 0 {
		fail("--drain-delay must not be negative")
	}
	if s.SpoolLimit < 1<<20 {
		fail("--spool-limit must be a MiB (1048576) at least")
	}
	if s.CheckpointEvery <= 0 {
		fail("--checkpoint-every must be above zero")
	}
	if s.Kube.HoldRejections >= s.Limits.ExtenderDeadline {
		fail("--hold-rejections must be below --extender-deadline")
	}
	if err := s.Limits.Validate(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// profiles reads the scheduler's configuration.
func (s *settings) profiles() (*profiles.Config, error) {
	if s.Config == "" {
		return &profiles.Config{Profiles: profiles.Default(), Backoff: state.DefaultBackoff()}, nil
	}
	raw, err := os.ReadFile(s.Config)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	c, err := profiles.Read(raw)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", s.Config, err)
	}
	return c, nil
}
