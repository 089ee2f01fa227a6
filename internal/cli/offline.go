package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/report"
	"berth/internal/revision"
)

// offline decides in the process, on what kubectl printed or on what the
// cluster's apiserver lists.
type offline struct {
	view     *revision.View
	unread   []follow.Unread // of a cluster
	profiles []*engine.Profile
	profile  string
	config   bool // the profiles are not the default ones
	now      time.Time
	file     string
	live     bool // it was read from an apiserver
}

// newOffline reads the snapshot, or the cluster if there is one.
func newOffline(ctx context.Context, a *app, l *live) (*offline, error) {
	list, err := a.profiles()
	if err != nil {
		return nil, err
	}
	s := &offline{profiles: list, profile: a.o.profile, config: a.o.config != "", now: a.Now(), file: nameOfFile(a.o.snapshot), live: l != nil}
	if l != nil {
		s.file = "the cluster"
		s.view, s.unread, err = a.readCluster(ctx, l)
	} else {
		s.view, err = a.readSnapshot()
	}
	return s, err
}

// profiles reads the configuration to decide under.
func (a *app) profiles() ([]*engine.Profile, error) {
	if a.o.config == "" {
		return config.Default(), nil
	}
	raw, err := readConfig(a.o.config)
	if err != nil {
		return nil, err
	}
	c, err := a.parseConfig(a.o.config, raw)
	if err != nil {
		return nil, err
	}
	return c.Profiles, nil
}

func readConfig(file string) ([]byte, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return raw, nil
}

// parseConfig reads the text of a KubeSchedulerConfiguration, and notes each part that has no
// effect, such as a plugin that is not known among the disabled.
func (a *app) parseConfig(file string, raw []byte) (*config.Config, error) {
	c, err := config.Read(raw)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", file, err)
	}
	for _, line := range c.Ignored {
		a.note("--config %s: %s", file, line)
	}
	return c, nil
}

// configuration returns a configuration for others to decide under, who say what is wrong with it.
func (a *app) configuration(file string) ([]byte, error) {
	raw, err := readConfig(file)
	if err == nil {
		_, _ = a.parseConfig(file, raw)
	}
	return raw, err
}

// readSnapshot reads the cluster's state. On a terminal it shows how far it is.
func (a *app) readSnapshot() (*revision.View, error) {
	r, done, err := a.open(a.o.snapshot)
	if err != nil {
		return nil, err
	}
	defer done()
	p := a.progress("reading " + nameOfFile(a.o.snapshot))
	defer p.end()
	skipped := 0
	limits := object.Limits{Input: "the dump", MaxAliases: object.DefaultMaxAliases, Skip: func(e *object.InvalidError) {
		if skipped++; skipped <= maxNotes {
			a.note("%s: %s is left out: %v", nameOfFile(a.o.snapshot), e.Key, e.Errors.ToAggregate())
		}
	}}
	view, err := revision.Standalone("snapshot", a.withBeside(func(yield func(object.Object) error) (map[string]int, error) {
		return object.Read(r, object.YAML, limits, func(o object.Object) error {
			p.step()
			return yield(o)
		})
	}), a.Now())
	if n := skipped - maxNotes; n > 0 {
		a.note("%s: %s left out", nameOfFile(a.o.snapshot), plural(n, "more invalid object"))
	}
	if err != nil {
		return nil, &problem{what: nameOfFile(a.o.snapshot), why: err, next: "Expected the output of kubectl get nodes,pods,… -A -o json (or -o yaml)."}
	}
	return view, nil
}

func (s *offline) decide(ctx context.Context, q question) (*answer, error) {
	ask := decision.Question{Profile: s.profile, Explain: q.explain, Suggest: q.suggest, Now: s.now}
	if q.pod.whole == nil {
		ask.PodRef = &object.Key{Kind: "Pod", Namespace: q.pod.namespace, Name: q.pod.name}
		if _, ok := s.view.Object(*ask.PodRef); !ok {
			p := &problem{
				what: fmt.Sprintf("%s has no pod %s", s.file, q.pod), next: "Pass the full object: kubectl get pod NAME -o json > pod.json, then -f pod.json.",
			}
			return nil, meant(ctx, s, q.pod, p)
		}
	} else {
		pod, err := object.DecodePod(q.pod.whole, object.Limits{})
		if err != nil {
			if invalid, ok := errors.AsType[*object.InvalidError](err); ok {
				return nil, invalid // it names the pod
			}
			return nil, fmt.Errorf("pod %s: %w", q.pod, err)
		}
		ask.Pod = pod
	}
	if q.ungated {
		if ask.Pod == nil {
			pod, err := s.view.Pod(q.pod.namespace, q.pod.name)
			if err != nil {
				return nil, err
			}
			ask.PodRef, ask.Pod = nil, pod.DeepCopy()
		}
		ask.Pod.Spec.SchedulingGates = nil
	}
	got, err := decision.Preview(ctx, s.view, s.profiles, ask, time.Now)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(got)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return readAnswer(raw)
}

// story is what a server tells of the pod, without a past. It is under the
// default configuration, as a server's is under its own.
func (s *offline) story(ctx context.Context, t target) (*told, error) {
	if t.whole != nil || s.config || s.profile != "" {
		return nil, nil
	}
	if s.view.State.Pod(t.namespace, t.name) == nil {
		return nil, nil // the decision then names what is missing
	}
	st, err := report.Alone(s.view, s.profiles, s.now).Tell(ctx, s.view.Cluster, t.namespace, t.name, report.Ask{Suggest: true})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(st)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return &told{Story: *st, raw: raw}, nil
}
