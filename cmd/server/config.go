package main

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/internal/revision"
)

// settings are everything that can be set of a server.
type settings struct {
	Listen            string         `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to serve on; port 0 picks a free one."`
	Insecure          bool           `help:"Serve on an address that others can reach without TLS, and without identities unless --require-identity is set."`
	AllowedHosts      []string       `placeholder:"NAME" help:"Host names that the server answers to beside localhost; others are refused. Without any, only requests to a loopback address must use a loopback name."`
	CORSOrigin        []string       `name:"cors-origin" placeholder:"ORIGIN" help:"Origin whose pages may call /v1 from a browser, such as https://ui.example; may be given again. Without it none but the server's own."`
	Pages             string         `enum:"off,read-only,read-write" default:"read-only" help:"The explorer, pages beside the API: off, read-only, or read-write, where it offers to load the sample cluster."`
	TLS               tlsSettings    `embed:"" prefix:"tls-"`
	Extender          extender       `embed:"" prefix:"extender-"`
	Kube              kubeSettings   `embed:""`
	AdminListen       string         `placeholder:"HOST:PORT" help:"Serve profiles, state, settings and the newest log lines on this loopback address, for operators; without it nowhere."`
	Access            accessSettings `embed:""`
	MetricsListen     string         `placeholder:"HOST:PORT" help:"Serve /metrics, /livez and /readyz on this address too, for callers without an identity."`
	ReadyFile         string         `placeholder:"PATH" help:"File to write HOST:PORT to once the server is ready."`
	DataDir           string         `default:"./data" placeholder:"DIR" help:"Directory of the embedded store."`
	DatabaseURL       string         `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store, for any number of servers. Run server migrate up first. Set a URL with a password in the environment: every user of the machine can read arguments."`
	DatabaseUnsafe    bool           `help:"Serve from a database whose settings may lose answered data; each is logged."`
	Audit             string         `default:"strict" hidden:""` // until v0.3.0 it could be relaxed
	SpoolDir          string         `placeholder:"DIR" help:"Directory for decisions while Postgres is unavailable; DIR/spool below --data-dir if not set."`
	SpoolLimit        limits.Bytes   `default:"1GiB" placeholder:"BYTES" help:"Maximum size of the spool; beyond it, calls that must be recorded are refused."`
	KeepDecisions     age            `placeholder:"AGE" help:"Delete decisions older than this, such as 90d or 2160h; without it all are kept."`
	KeepRevisions     age            `placeholder:"AGE" help:"Delete superseded revisions older than this that no decision references, such as 7d or 168h; at least 1h; without it all are kept."`
	PollInterval      time.Duration  `default:"500ms" help:"How often a server on Postgres polls for writes of other servers."`
	Config            string         `placeholder:"FILE" help:"KubeSchedulerConfiguration to use; without it upstream's default."`
	Semantics         releases       `default:"v1.36" placeholder:"[CLUSTER=]RELEASE" help:"Release of Kubernetes to decide as, such as v1.37, or v1.37 StorageCapacityScoring=false with gates that are not at its defaults; CLUSTER=RELEASE is for one cluster. May be repeated, or hold several with semicolons between them."`
	LogLevel          string         `default:"info" enum:"debug,info,warn,error" help:"debug, info, warn or error."`
	LogFormat         string         `default:"auto" enum:"auto,text,json" help:"text, json, or auto: text on a terminal, else json."`
	LogSample         int            `default:"100" placeholder:"LINES" help:"Lines of one message to log in a second; the rest is counted and left out. Errors are never. 0 logs all."`
	OTLPEndpoint      string         `name:"otlp-endpoint" placeholder:"URL" help:"Where to send traces by OTLP over HTTP; without it none are sent."`
	AutoMemory        bool           `default:"true" negatable:"" help:"Take the memory limit from the container, at 85 percent, where GOMEMLIMIT is not set."`
	DrainDelay        time.Duration  `default:"0s" help:"How long requests are still accepted after SIGTERM while /readyz fails, so that load balancers notice first."`
	ShutdownTimeout   time.Duration  `default:"30s" help:"How long requests in flight may take to finish."`
	TolerationSeconds bool           `name:"default-toleration-seconds" default:"true" negatable:"" help:"Run the admission plugin DefaultTolerationSeconds on pods that the ledger stores: they tolerate a lost node for 300 s."`
	PoolLabel         string         `default:"node.kubernetes.io/instance-type" placeholder:"LABEL" help:"Label of nodes by whose values records count the rejected nodes, for SQL; empty: they do not."`

	Limits limits.Limits `embed:"" group:"limits"`
}

// afterApply is the form that kong wants of a hook behind flags and environment.
type afterApply interface{ AfterApply() error }

var _ afterApply = (*settings)(nil)

// AfterApply sets what no flag does.
func (s *settings) AfterApply() error {
	s.Limits.Fixed = limits.Default().Fixed
	return nil
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
	if err := checkKeepRevisions(s.KeepRevisions); err != nil {
		fail(err.Error())
	}
	if s.PollInterval != 0 && s.PollInterval < 10*time.Millisecond {
		fail("--poll-interval must be at least 10ms")
	}
	for cluster := range s.Semantics.clusters {
		if err := revision.CheckName(cluster); err != nil {
			errs = append(errs, fmt.Errorf("--semantics: %w", err))
		}
	}
	errs = append(errs, s.checkListeners(), s.Kube.validate(), s.Access.validate(s.Kube.sources()))
	for _, origin := range s.CORSOrigin {
		if err := admit.CheckOrigin(origin); err != nil {
			errs = append(errs, fmt.Errorf("--cors-origin: %w", err))
		}
	}
	if s.Audit != "strict" {
		fail("--audit (or BERTH_AUDIT) can only be strict: every answer waits for its durable record; leave it out")
	}
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
		fail("--spool-limit must be 1MiB at least")
	}
	if s.LogSample < 0 {
		fail("--log-sample must not be negative; 0 logs all")
	}
	if s.PoolLabel != "" {
		for _, why := range validation.IsQualifiedName(s.PoolLabel) {
			fail("--pool-label is no key of a label: " + why)
		}
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
func (s *settings) profiles() (*config.Config, error) {
	if s.Config == "" {
		return &config.Config{Profiles: config.Default(s.Semantics.value()), Backoff: state.DefaultBackoff()}, nil
	}
	raw, err := os.ReadFile(s.Config)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	c, err := config.Read(raw, s.Semantics.value())
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", s.Config, err)
	}
	_, err = s.configured(c)
	return c, err
}

// configured is how a configuration decides in each cluster.
func (s *settings) configured(c *config.Config) (*decision.Configuration, error) {
	out := &decision.Configuration{Profiles: c.Profiles, Read: c.Under, Clusters: map[string][]*engine.Profile{}}
	for cluster, r := range s.Semantics.clusters {
		own, err := out.Under(r)
		if err != nil {
			return nil, fmt.Errorf("--semantics %s=%s: --config %s: %w", cluster, r.Stamp(), s.Config, err)
		}
		out.Clusters[cluster] = own
	}
	return out, nil
}

// refuseGone returns an error that names the flag, or the environment variable, of a limit that can
// be set no more, and its value.
func refuseGone(args []string, getenv func(string) string) error {
	gone := limits.FixedValues()
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		given := "--" + name
		if env := "BERTH_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")); getenv(env) != "" {
			given = env
		} else if !slices.ContainsFunc(args, func(arg string) bool { return arg == given || strings.HasPrefix(arg, given+"=") }) {
			continue
		}
		return fmt.Errorf("%s is gone: it is %s for every server now; leave it out (docs/configuration.md#limits)", given, gone[name])
	}
	return nil
}
