package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/handlers/rest"
	"berth/internal/report"
	"berth/internal/words"
)

// queue puts the pages of a long queue together. An older revision's is shown at
// the time when that was made.
func (s *source) queue(ctx context.Context) (json.RawMessage, error) {
	if err := s.ownConfig(); err != nil {
		return nil, err
	}
	query := s.asOf()
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	var all report.Queue
	for {
		raw, err := s.call(ctx, http.MethodGet, query, nil, "v1", "clusters", s.cluster, "queue")
		if err != nil {
			return nil, s.hint(ctx, err, target{})
		}
		var page report.Queue
		if err := readInto(raw, &page); err != nil {
			return nil, err
		}
		if page.Cursor == "" && all.Cursor == "" {
			return raw, nil
		}
		query = url.Values{"cursor": {page.Cursor}}
		page.Active, page.Gated, page.Nominated = append(all.Active, page.Active...), append(all.Gated, page.Gated...), append(all.Nominated, page.Nominated...)
		if all = page; page.Cursor == "" {
			return json.Marshal(all)
		}
	}
}

func (s *source) garbage(ctx context.Context, threshold int) (json.RawMessage, error) {
	if err := s.newest(); err != nil {
		return nil, err
	}
	q := rest.GarbageRequest{TerminatedPodThreshold: &threshold}
	if s.dump != nil {
		now := s.now()
		q.Now = &now
	}
	raw, err := s.call(ctx, http.MethodPost, nil, q, "v1", "clusters", s.cluster, "garbage")
	return raw, s.hint(ctx, err, target{})
}

// answered asks a source for an overview and reads it; raw is the API's own object.
func answered[T any](ctx context.Context, a *app, ask func(*source) (json.RawMessage, error)) (out *T, raw json.RawMessage, gaps *gaps, err error) {
	if err := a.o.check(); err != nil {
		return nil, nil, nil, err
	}
	from, err := a.source(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if raw, err = ask(from); err != nil {
		return nil, nil, nil, err
	}
	out = new(T)
	if err := readInto(raw, out); err != nil {
		return nil, nil, nil, err
	}
	gaps, err = from.gaps(ctx)
	return out, raw, gaps, err
}

// show writes the API's own object, a page of text, or the explorer's page about the answer.
func (a *app) show(raw json.RawMessage, gaps *gaps, answer any, write func(*page)) error {
	switch a.o.output {
	case formJSON:
		return a.json(raw)
	case formHTML:
		return a.html(gaps, answer)
	}
	p := a.page()
	p.gaps(gaps)
	write(p)
	return p.end(a)
}

// question asks where a pod goes.
type question struct {
	pod     target
	explain engine.Explain
	node    string // that is explained; empty: none in particular
	suggest bool
	// ungated asks about the pod without its scheduling gates.
	ungated bool
	// snapshot is the one to ask about; empty: as the flags say.
	snapshot string
}

// answer is a decision, and its JSON as the API gives it.
type answer struct {
	decision.Answer
	raw json.RawMessage
}

// decide answers a question without recording it.
func (s *source) decide(ctx context.Context, q question) (*answer, error) {
	body := rest.DecisionRequest{
		Snapshot: q.snapshot, Pod: q.pod.whole, Profile: s.profile, Config: s.config, Semantics: s.semantics, Explain: string(q.explain), ExplainNode: q.node, Suggest: q.suggest, DryRun: true,
	}
	if body.Snapshot == "" {
		body.Snapshot = s.snapshot
	}
	if s.dump != nil {
		now := s.now()
		body.Now = &now
	}
	if q.ungated {
		if err := s.ungated(ctx, q.pod, &body); err != nil {
			return nil, err
		}
	}
	if body.Pod == nil {
		body.PodRef = &rest.PodName{Namespace: q.pod.namespace, Name: q.pod.name}
	}
	raw, err := s.call(ctx, http.MethodPost, passedOver(), body, "v1", "decisions")
	if err != nil {
		return nil, s.hint(ctx, err, q.pod)
	}
	a := &answer{raw: raw}
	return a, readInto(raw, a)
}

// story tells of a pod by name, as it is now and under the API's own configuration; nil of
// another one.
func (s *source) story(ctx context.Context, t target) (*told, error) {
	if t.whole != nil || s.config != nil || s.semantics != "" || s.profile != "" || s.older() || s.dump != nil && s.dump.config {
		return nil, nil
	}
	raw, err := s.call(ctx, http.MethodGet, s.asOf(), nil, "v1", "clusters", s.cluster, "pods", t.namespace, t.name)
	var r *refused
	if errors.As(err, &r) && r.Status == http.StatusNotFound {
		return nil, nil // the decision then names what is missing
	}
	if err != nil {
		return nil, err
	}
	st := &told{raw: raw}
	return st, readInto(raw, st)
}

// readInto reads an answer.
func readInto(raw json.RawMessage, answer any) error {
	if err := json.Unmarshal(raw, answer); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// item is an object of a source, with what commands read of it.
type item struct {
	Kind     string            `json:"kind"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		names
		Gates []json.RawMessage `json:"schedulingGates"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
	raw json.RawMessage
}

// target names a pod.
func (o *item) target() target {
	return target{namespace: o.Metadata.Namespace, name: o.Metadata.Name}
}

// waits reports whether a pod has no node and has not ended.
func (o *item) waits() bool {
	return o.Spec.Node == "" && o.Status.Phase != "Succeeded" && o.Status.Phase != "Failed"
}

// errEnough ends a walk over objects.
var errEnough = errors.New("enough")

// objectsPage is how many objects come at once.
const objectsPage = 500

func (s *source) object(ctx context.Context, kind, namespace, name string) (found *item, err error) {
	query := url.Values{"kind": {kind}, "name": {name}}
	if namespace != "" {
		query.Set("namespace", namespace)
	}
	err = s.pages(ctx, query, func(o *item) error {
		found = o
		return nil
	})
	return found, err
}

func (s *source) objects(ctx context.Context, kind string, f func(*item) error) error {
	return s.pages(ctx, url.Values{"kind": {kind}, "limit": {strconv.Itoa(objectsPage)}}, f)
}

// fullNames completes names of nodes in place: tables leave out the end that the names of all nodes
// share, and people type what they see. It returns an error for a name that no node has.
func (s *source) fullNames(ctx context.Context, names ...*string) error {
	for _, name := range names {
		o, err := s.object(ctx, "Node", "", *name)
		var r *refused
		if o != nil || errors.As(err, &r) { // the caller may not see nodes, and learns that by the answer
			continue
		}
		var all, labels, begin []string
		if err == nil {
			err = s.objects(ctx, "Node", func(o *item) error {
				label, _, _ := strings.Cut(o.Metadata.Name, ".")
				all, labels = append(all, o.Metadata.Name), append(labels, label)
				if strings.HasPrefix(o.Metadata.Name, *name+".") {
					begin = append(begin, o.Metadata.Name)
				}
				return nil
			})
		}
		switch {
		case err != nil:
			return err
		case len(all) == 0: // the gaps of the source say so
			return nil
		case len(begin) == 1:
			*name = begin[0]
			continue
		}
		p := &problem{what: "there is no node " + *name}
		if strings.Contains(*name, ".") {
			labels = all
		}
		if near, ok := words.Nearest(*name, labels); len(begin) > 1 {
			p.next = fmt.Sprintf("Did you mean %s?", someNames(begin))
		} else if ok {
			p.next = fmt.Sprintf("Did you mean %s?", all[slices.Index(labels, near)])
		}
		return p
	}
	return nil
}

// pages requests objects page by page.
func (s *source) pages(ctx context.Context, query url.Values, f func(*item) error) error {
	for {
		raw, err := s.call(ctx, http.MethodGet, query, nil, "v1", "snapshots", s.snapshot, "objects")
		var r *refused
		if errors.As(err, &r) && r.Status == http.StatusBadRequest && query.Has("limit") {
			query.Del("limit") // the server's pages are smaller
			continue
		}
		if err != nil {
			return s.hint(ctx, err, target{})
		}
		var page rest.ObjectList
		if err := readInto(raw, &page); err != nil {
			return err
		}
		for _, raw := range page.Items {
			o := &item{raw: raw}
			if err = readInto(raw, o); err == nil {
				err = f(o)
			}
			if errors.Is(err, errEnough) {
				return nil
			}
			if err != nil {
				return err
			}
		}
		if page.Cursor == "" {
			return nil
		}
		query.Set("cursor", page.Cursor)
	}
}
