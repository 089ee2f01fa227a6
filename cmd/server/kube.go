package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/handlers/admit"
	"berth/internal/kube/follow"
	"berth/internal/revision"
)

// kubeSettings say which clusters are followed through their apiservers.
type kubeSettings struct {
	Follow         map[string]string `mapsep:"," placeholder:"NAME=KUBECONFIG" help:"Follow a cluster through its API server, under a name of your choice; in-cluster instead of a file uses the pod's service account. May be repeated."`
	Kubeconfig     string            `placeholder:"FILE" help:"Follow the cluster of this file as cluster default; short for --follow default=FILE."`
	BindCheck      string            `default:"all" placeholder:"all|none|PLUGIN,…" help:"Filters to run again on the newest revision before a pod of a followed cluster is bound. Those that kube-scheduler does not enforce itself matter, since it binds pods concurrently."`
	BindUnrecorded bool              `name:"bind-unasked" help:"Bind pods of a followed cluster to any node that /bind names, whatever their scheduler. Without it the pod's schedulerName must be a profile's, and a recorded decision must have passed the node for the pod's UID. A kube-scheduler whose extender has bindVerb and no filterVerb needs this."`
	BindTimeout    time.Duration     `default:"3s" help:"How long a bind through an API server may take; keep it below the extender's httpTimeout."`
	HoldRejections time.Duration     `default:"2500ms" placeholder:"TIME" help:"How long to hold a call about a followed cluster that would be rejected, until the copy of the cluster is as new as the call. After that the answer is an error, and kube-scheduler retries. Keep it below --extender-deadline; 0 rejects at once."`
	MaxStaleness   time.Duration     `placeholder:"AGE" help:"Not ready while changes of every followed cluster may have been missed for longer than this, such as 10s. Without it the server continues to answer, and reports the staleness."`
}

// sources are all clusters to follow, by name.
func (s *kubeSettings) sources() map[string]string {
	out := map[string]string{}
	for name, path := range s.Follow {
		out[name] = path
	}
	if s.Kubeconfig != "" {
		out["default"] = s.Kubeconfig
	}
	return out
}

func (s *kubeSettings) validate() error {
	var errs []error
	for name := range s.Follow {
		if err := revision.CheckName(name); err != nil {
			errs = append(errs, fmt.Errorf("--follow: %w", err))
		}
	}
	if _, both := s.Follow["default"]; both && s.Kubeconfig != "" {
		errs = append(errs, errors.New("--kubeconfig and --follow both name cluster default"))
	}
	if s.BindTimeout < 0 {
		errs = append(errs, errors.New("--bind-timeout must not be negative"))
	}
	if s.HoldRejections < 0 {
		errs = append(errs, errors.New("--hold-rejections must not be negative"))
	}
	if s.MaxStaleness < 0 {
		errs = append(errs, errors.New("--max-staleness must not be negative"))
	}
	_, err := s.plugins()
	return errors.Join(append(errs, err)...)
}

// plugins are those of --bind-check; nil stands for all, an empty list for none.
func (s *kubeSettings) plugins() ([]string, error) {
	switch s.BindCheck {
	case "all", "":
		return nil, nil
	case "none":
		return []string{}, nil
	}
	list := strings.Split(s.BindCheck, ",")
	for _, name := range list {
		if _, ok := rules.Known(name); !ok {
			return nil, fmt.Errorf("--bind-check: there is no plugin %q; want all, none, or names such as PodTopologySpread,NodePorts", name)
		}
	}
	return list, nil
}

// checked returns the profiles of each cluster with only the rules of --bind-check: nil if there
// are none.
func (s *kubeSettings) checked(c *decision.Configuration) (*decision.Configuration, error) {
	own, err := s.profiles(c.Profiles)
	if err != nil || own == nil {
		return nil, err
	}
	out := &decision.Configuration{Profiles: own, Clusters: map[string][]*engine.Profile{}}
	for cluster, list := range c.Clusters {
		if out.Clusters[cluster], err = s.profiles(list); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *kubeSettings) profiles(all []*engine.Profile) ([]*engine.Profile, error) {
	names, err := s.plugins()
	switch {
	case err != nil || names != nil && len(names) == 0:
		return nil, err
	case names == nil:
		return all, nil
	}
	out := make([]*engine.Profile, 0, len(all))
	for _, p := range all {
		only, err := rules.Only(p.Payload, func(plugin string) bool { return slices.Contains(names, plugin) })
		if err != nil {
			return nil, err
		}
		out = append(out, only)
	}
	return out, nil
}

// followed is a cluster that berth follows and binds in through its apiserver.
type followed struct {
	follower *follow.Follower
	binder   *follow.Binder
}

func (d *dependencies) followed(cluster string) bool { return d.kube[cluster] != nil }

// follower returns nil for a cluster that is not followed.
func (d *dependencies) follower(cluster string) *follow.Follower {
	if f := d.kube[cluster]; f != nil {
		return f.follower
	}
	return nil
}

func (d *dependencies) hold(ctx context.Context, cluster string, pod func() *corev1.Pod, try func(final bool) (bool, error)) error {
	return d.holder.Hold(ctx, cluster, pod, try)
}

func (d *dependencies) stale(cluster string) (time.Duration, bool) {
	if f := d.kube[cluster]; f != nil {
		return f.follower.Stale(), true
	}
	return 0, false
}

func (d *dependencies) apiserver(cluster string) bind.APIServer {
	if f := d.kube[cluster]; f != nil {
		return f.binder
	}
	return nil
}

// onlyServer is the holder of leases in an embedded store.
const onlyServer = "the server of this store"

// assumeBeyond is how long beyond its timeout a bind of unknown outcome counts as done before berth
// reads the pod from the apiserver.
const assumeBeyond = 2 * time.Second

// follow returns the followers of the clusters, sorted by name.
func (d *dependencies) follow(s *settings, log *slog.Logger) (list []*follow.Follower, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	owner := instance() + " " + id.String()
	if s.DatabaseURL == "" {
		// The embedded store has one server: the holder before has ended, and its lease need not
		// expire first.
		owner = onlyServer
	}
	sources := s.Kube.sources()
	for name, path := range sources {
		c, err := follow.Config(path)
		if err != nil {
			return nil, fmt.Errorf("--follow %s: %w", name, err)
		}
		b, err := follow.NewBinder(c, s.Kube.BindTimeout)
		if err != nil {
			return nil, fmt.Errorf("--follow %s: %w", name, err)
		}
		f := follow.New(follow.Options{
			Cluster: name, Config: c, Clusters: d.clusters, Leads: d.store, Owner: owner, Log: log,
			Confirmations: d.store, Poll: s.poll(),
			Assumed: cmp.Or(s.Kube.BindTimeout, follow.DefaultBindTimeout) + assumeBeyond,
		})
		d.kube[name] = &followed{f, b}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *follow.Follower) int { return strings.Compare(a.Cluster(), b.Cluster()) })
	return list, nil
}

// staleEnough is the age from which on a note names a cluster's state as old.
const staleEnough = 5 * time.Second

func followNotes(list []*follow.Follower) (notes []admit.Note) {
	for _, f := range list {
		notes = append(notes, admit.Note{Name: "cluster " + f.Cluster(), Text: func() string {
			s := f.Status()
			switch {
			case s.Stale > staleEnough:
				return fmt.Sprintf("changes of the last %s may have been missed: %s", s.Stale.Round(time.Second), s.Problem)
			case s.Unreadable > 0:
				return fmt.Sprintf("%d objects cannot be read and are left out; the log names them", s.Unreadable)
			}
			return ""
		}})
	}
	return notes
}

// watchKube shows how following goes.
func watchKube(meter metric.Meter, list []*follow.Follower) error {
	if len(list) == 0 {
		return nil
	}
	var errs []error
	gauge := func(name, what string) metric.Int64ObservableGauge {
		g, err := meter.Int64ObservableGauge(name, metric.WithDescription(what))
		errs = append(errs, err)
		return g
	}
	counter := func(name, what string) metric.Int64ObservableCounter {
		c, err := meter.Int64ObservableCounter(name, metric.WithDescription(what))
		errs = append(errs, err)
		return c
	}
	stale, err := meter.Float64ObservableGauge("berth.cluster.staleness", metric.WithUnit("s"), metric.WithDescription("For how long a followed cluster may have changed unseen."))
	errs = append(errs, err)
	leading := gauge("berth.cluster.leading", "1 where this server reads the cluster's apiserver, 0 where another one does.")
	synced := gauge("berth.cluster.synced", "1 once the whole cluster was read.")
	unreadable := gauge("berth.cluster.unreadable_objects", "Objects that cannot be read and are left out.")
	events := counter("berth.cluster.events", "Watch events that changed what decisions read.")
	noise := counter("berth.cluster.events_ignored", "Watch events that changed nothing that decisions read.")
	written := counter("berth.cluster.revisions", "Revisions that this server made of watch events.")
	expired := counter("berth.cluster.binds_expired", "Binds on record that never reached the apiserver.")
	if err := errors.Join(errs...); err != nil {
		return err
	}
	yes := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, f := range list {
			s, of := f.Status(), metric.WithAttributes(attribute.String("cluster", f.Cluster()))
			o.ObserveFloat64(stale, s.Stale.Seconds(), of)
			o.ObserveInt64(leading, yes(s.Leading), of)
			o.ObserveInt64(synced, yes(s.Synced), of)
			o.ObserveInt64(unreadable, int64(s.Unreadable), of)
			o.ObserveInt64(events, s.Events, of)
			o.ObserveInt64(noise, s.Noise, of)
			o.ObserveInt64(written, s.Revisions, of)
			o.ObserveInt64(expired, s.Expired, of)
		}
		return nil
	}, stale, leading, synced, unreadable, events, noise, written, expired)
	return err
}
