package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"berth/internal/access"
	"berth/internal/handlers"
	"berth/internal/handlers/limits"
	"berth/internal/ops/certs"
)

// reread is the interval at which certificate files are read.
const reread = 2 * time.Second

// maxStreams bounds the calls at once of one HTTP/2 connection, as an apiserver does by default.
const maxStreams = 100

// tlsSettings are a listener's certificates.
type tlsSettings struct {
	Cert        string   `placeholder:"FILE" help:"Certificate chain in PEM: serve TLS. A replaced file is loaded within seconds."`
	Key         string   `placeholder:"FILE" help:"Private key of the certificate, in PEM."`
	ClientCA    string   `name:"client-ca" placeholder:"FILE" help:"CAs of client certificates, in PEM. A client without such a certificate is refused."`
	ClientNames []string `name:"client-names" placeholder:"NAME" help:"Names of which a client's certificate must have one, such as system:kube-scheduler; any name if not set."`
}

// extender is the listener for kube-scheduler.
type extender struct {
	Listen   string      `placeholder:"HOST:PORT" help:"Serve kube-scheduler's calls on this address only; without it they are served with all others."`
	TLS      tlsSettings `embed:"" prefix:"tls-"`
	Insecure bool        `help:"Serve kube-scheduler's calls on an address that others can reach, without client certificates."`
}

func (s *tlsSettings) on() bool { return s.Cert != "" }

// validate names a flag; prefix is what the flags begin with.
func (s *tlsSettings) validate(prefix string) error {
	switch {
	case (s.Cert == "") != (s.Key == ""):
		return fmt.Errorf("--%scert and --%skey belong together: one of them is missing", prefix, prefix)
	case s.ClientCA != "" && s.Cert == "":
		return fmt.Errorf("--%sclient-ca needs --%scert and --%skey", prefix, prefix, prefix)
	case len(s.ClientNames) > 0 && s.ClientCA == "":
		return fmt.Errorf("--%sclient-names needs --%sclient-ca: without a CA the name proves nothing", prefix, prefix)
	}
	return nil
}

// checkListeners refuses an address that other machines reach, unless clients need certificates
// there or --insecure is set.
func (s *settings) checkListeners() error {
	errs := []error{
		s.TLS.validate("tls-"), s.Extender.TLS.validate("extender-tls-"), checkAdmin(s.AdminListen),
		checkListen("--listen", s.Listen, s.Insecure || s.TLS.on(),
			"which would send tokens in clear text: serve TLS by --tls-cert and --tls-key, so that callers show an API token (server token create) or a client certificate (--tls-client-ca), or add --insecure"),
	}
	if s.MetricsListen != "" {
		errs = append(errs, checkListen("--metrics-listen", s.MetricsListen, true, ""))
	}
	if s.Extender.Listen != "" {
		errs = append(errs, checkListen("--extender-listen", s.Extender.Listen, s.Extender.Insecure || s.Extender.TLS.ClientCA != "",
			"and every client may do everything: require a client certificate by --extender-tls-client-ca, or add --extender-insecure"))
		if s.Access.RequireIdentity && s.Extender.TLS.ClientCA == "" {
			errs = append(errs, errors.New("--require-identity with --extender-listen needs --extender-tls-client-ca: kube-scheduler shows nothing but a certificate"))
		}
	} else if s.Extender.TLS.on() {
		errs = append(errs, errors.New("--extender-tls-cert needs --extender-listen, the listener that it is for"))
	}
	return errors.Join(errs...)
}

// onLoopback reports whether an address is reached from this machine alone.
func onLoopback(flag, address string) (bool, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false, fmt.Errorf("%s %q is not HOST:PORT", flag, address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return false, fmt.Errorf("%s %q: %q is no port", flag, address, port)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// checkListen refuses an address that others reach, unless it is protected; otherwise is why, and
// what would be right.
func checkListen(flag, address string, protected bool, otherwise string) error {
	local, err := onLoopback(flag, address)
	if err != nil {
		return err
	}
	if !protected && !local {
		return fmt.Errorf("%s %s can be reached from outside, %s", flag, address, otherwise)
	}
	return nil
}

// place is an open listener with its handler.
type place struct {
	name              string // as the log has it
	listener          net.Listener
	certs             *certs.Keeper // nil: no TLS
	handler           http.Handler  // of the API, once there is one
	serves            atomic.Pointer[http.Handler]
	limits            *limits.Limits
	identity          bool // each caller needs one
	extender, metrics bool // what it serves; REST, and what no other listener serves, if neither
}

// open opens the listener of an address. flag is the setting that errors name.
func open(name, flag, address string, t *tlsSettings, log *slog.Logger) (*place, error) {
	p := &place{name: name}
	if t.on() {
		k, err := certs.Open(certs.Files{Cert: t.Cert, Key: t.Key, ClientCA: t.ClientCA, ClientNames: t.ClientNames}, log)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		p.certs = k
	}
	var err error
	if p.listener, err = net.Listen("tcp", address); err != nil {
		return nil, fmt.Errorf("%s %s: %w%s", flag, address, err, addressHint(flag, err))
	}
	return p, nil
}

// addressHint returns how to choose another address where this one is taken.
func addressHint(flag string, err error) string {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return ""
	}
	variable := "BERTH_" + strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_"))
	return fmt.Sprintf("; choose another with %s HOST:PORT or %s (port 0 takes any free one)", flag, variable)
}

// listeners opens the listeners of the settings: the first is that of REST.
func (s *settings) listeners(log *slog.Logger) (list []*place, err error) {
	rest, err := open("berth", "--listen", s.Listen, &s.TLS, log)
	if err != nil {
		return nil, err
	}
	local, _ := onLoopback("--listen", s.Listen) // checked before
	rest.identity = s.Access.RequireIdentity || !s.Insecure && !local
	list = append(list, rest)
	if !rest.identity && !local {
		log.Warn("callers need no identity and may come from other machines: whoever reaches the address may do everything", slog.String("flag", "--listen"), slog.String("address", s.Listen), slog.String("remedy", "--require-identity"))
	}
	if s.Extender.Listen != "" && s.Extender.TLS.ClientCA == "" {
		if local, _ := onLoopback("--extender-listen", s.Extender.Listen); !local {
			log.Warn("callers need no identity and may come from other machines: whoever reaches the address may do everything", slog.String("flag", "--extender-listen"), slog.String("address", s.Extender.Listen), slog.String("remedy", "--extender-tls-client-ca"))
		}
	}
	if s.Extender.Listen != "" {
		calls, err := open("the extender", "--extender-listen", s.Extender.Listen, &s.Extender.TLS, log)
		if err != nil {
			return nil, errors.Join(err, rest.listener.Close())
		}
		calls.identity, calls.extender = s.Access.RequireIdentity, true
		list = append(list, calls)
	}
	if s.MetricsListen != "" {
		metrics, err := open("metrics", "--metrics-listen", s.MetricsListen, &tlsSettings{}, log)
		if err != nil {
			for _, p := range list {
				err = errors.Join(err, p.listener.Close())
			}
			return nil, err
		}
		metrics.metrics = true
		list = append(list, metrics)
	}
	return list, nil
}

func (p *place) url() string {
	if p.certs != nil {
		return "https://" + p.listener.Addr().String()
	}
	return "http://" + p.listener.Addr().String()
}

// server makes the HTTP server of a place.
func (p *place) server(ending context.Context, log *slog.Logger) *http.Server {
	readHeader, read, write, idle := p.limits.Timeouts()
	if p.identity {
		ending = access.Require(ending)
	}
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: readHeader, ReadTimeout: read, WriteTimeout: write, IdleTimeout: idle,
		MaxHeaderBytes: int(p.limits.MaxHeaderBytes), ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ending },
		ConnContext: joining,
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
	}
	if p.certs != nil {
		server.TLSConfig = p.certs.Config()
	}
	return server
}

// ServeHTTP implements http.Handler by the handler that the place has now.
func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*p.serves.Load()).ServeHTTP(w, r) }

func (p *place) serve(server *http.Server) error {
	counted := newConns(p.listener, p.limits.MaxConnections, p.limits.MaxPeerConnections)
	server.ConnState = counted.state
	listener := net.Listener(counted)
	if p.certs != nil {
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	return server.Serve(listener)
}

// split sets the handler of each listener. Pages are beside the REST API.
func split(list []*place, api *handlers.API, pages []func(chi.Router)) {
	own := slices.ContainsFunc(list, func(p *place) bool { return p.extender })
	for _, p := range list {
		switch {
		case p.extender:
			p.handler = api.ExtenderHandler()
		case p.metrics:
			p.handler = api.MetricsHandler()
		case own:
			p.handler = api.RestHandler(pages...)
		default:
			p.handler = api.Handler(pages...)
		}
	}
}

// serving is the HTTP servers of the listeners. The zero value has not started.
type serving struct {
	places  []*place
	servers []*http.Server
	failed  chan error
	stops   []func()
}

// start has the listeners accept connections; answer is called before the first one is answered.
func (s *serving) start(ctx, ending context.Context, list []*place, limits *limits.Limits, log *slog.Logger) {
	s.places, s.failed = list, make(chan error, len(list))
	for _, p := range list {
		p.limits = limits
		s.servers = append(s.servers, p.server(ending, log))
		if p.certs != nil {
			s.stops = append(s.stops, background(ctx, func(ctx context.Context) { p.certs.Watch(ctx, reread) }))
		}
	}
}

// answer has every listener answer by a handler of all, or by its own where there is none. The
// first call begins to accept.
func (s *serving) answer(all http.Handler) {
	for i, p := range s.places {
		h := all
		if h == nil {
			h = p.handler
		}
		if p.serves.Swap(&h) == nil {
			go func() { s.failed <- fmt.Errorf("serve %s: %w", p.name, p.serve(s.servers[i])) }()
		}
	}
}

// end closes the connections that are left.
func (s *serving) end() error {
	for _, stop := range s.stops {
		stop()
	}
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	return errors.Join(errs...)
}

// answer serves the API until ctx ends.
func (c *serveCmd) answer(ctx, ending context.Context, api *handlers.API, up *serving, list []*place, log *slog.Logger) error {
	pages, err := c.pages(api)
	if err != nil {
		return err
	}
	split(list, api, pages)
	if up.places == nil {
		up.start(ctx, ending, list, &c.Limits, log)
	}
	up.answer(nil)
	for i, p := range list {
		attrs := []any{}
		if i == 0 {
			if len(pages) > 0 {
				attrs = append(attrs, slog.String("pages", p.url()+"/"))
			}
			attrs = append(attrs, slog.String("docs", p.url()+"/docs"), slog.String("dataDir", c.DataDir))
		}
		log.Info(p.name+" serves on "+p.url(), attrs...) //nolint:sloglint // the line that a person looks for
	}
	done, err := c.announce(list)
	if err != nil {
		return err
	}
	defer done()
	select {
	case err := <-up.failed:
		return err
	case <-ctx.Done():
	}
	api.Drain()
	if c.DrainDelay > 0 {
		log.Info("not ready: new requests are still answered", slog.Duration("drainDelay", c.DrainDelay))
		select {
		case err := <-up.failed:
			return err
		case <-time.After(c.DrainDelay):
		}
	}
	log.Info("shutting down: draining in-flight requests", slog.Duration("timeout", c.ShutdownTimeout))
	limited, cancel := context.WithTimeout(ending, c.ShutdownTimeout)
	defer cancel()
	began := time.Now()
	for _, s := range up.servers {
		if err := s.Shutdown(limited); err != nil {
			return fmt.Errorf("requests were still in flight after %s (--shutdown-timeout): %w", c.ShutdownTimeout, err)
		}
	}
	log.Info("stopped", slog.Duration("took", time.Since(began)))
	return nil
}

// watchCerts registers the metrics of the listeners' certificates.
func (t *telemetry) watchCerts(list []*place) error {
	expires, err1 := t.meter.Int64ObservableGauge("berth.certificate.expiry.timestamp", metric.WithUnit("s"), metric.WithDescription("When a listener's certificate stops being valid, Unix time."))
	reloads, err2 := t.meter.Int64ObservableCounter("berth.certificate.reloads", metric.WithDescription("Certificates that were replaced while the server ran."))
	broken, err3 := t.meter.Int64ObservableGauge("berth.certificate.broken", metric.WithDescription("1 while the files of a listener's certificate cannot be used and those before are."))
	_, err4 := t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, p := range list {
			if p.certs == nil {
				continue
			}
			s, on := p.certs.Status(), metric.WithAttributes(attribute.String("listener", p.name))
			o.ObserveInt64(expires, s.Expires.Unix(), on)
			o.ObserveInt64(reloads, s.Reloads, on)
			o.ObserveInt64(broken, int64(min(1, len(s.Problem))), on)
		}
		return nil
	}, expires, reloads, broken)
	return errors.Join(err1, err2, err3, err4)
}
