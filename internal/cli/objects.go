package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
)

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

func eachOf(items []json.RawMessage, f func(*item) error) error {
	for _, raw := range items {
		o := &item{raw: raw}
		if err := json.Unmarshal(raw, o); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if err := f(o); err != nil {
			return err
		}
	}
	return nil
}

func (s *offline) object(_ context.Context, kind, namespace, name string) (found *item, err error) {
	js, ok := s.view.Object(object.Key{Kind: kind, Namespace: namespace, Name: name})
	if !ok {
		return nil, nil
	}
	err = eachOf([]json.RawMessage{js}, func(o *item) error {
		found = o
		return nil
	})
	return found, err
}

func (s *offline) objects(ctx context.Context, kind string, f func(*item) error) error {
	for after, more := (object.Key{}), true; more; {
		list, again, err := s.view.List(ctx, kind, after, objectsPage)
		if err != nil {
			return err
		}
		more = again
		items := make([]json.RawMessage, len(list))
		for i := range list {
			items[i] = list[i]
		}
		err = eachOf(items, func(o *item) error {
			after = object.Key{Kind: kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
			return f(o)
		})
		if err != nil {
			return ended(err)
		}
	}
	return nil
}

func (s *server) object(ctx context.Context, kind, namespace, name string) (found *item, err error) {
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

func (s *server) objects(ctx context.Context, kind string, f func(*item) error) error {
	return s.pages(ctx, url.Values{"kind": {kind}, "limit": {strconv.Itoa(objectsPage)}}, f)
}

// pages requests objects page by page.
func (s *server) pages(ctx context.Context, query url.Values, f func(*item) error) error {
	for {
		raw, err := s.callWith(ctx, http.MethodGet, query, nil, "v1", "snapshots", s.snapshot, "objects")
		var r *refused
		if errors.As(err, &r) && r.Status == http.StatusBadRequest && query.Has("limit") {
			query.Del("limit") // the server's pages are smaller
			continue
		}
		if err != nil {
			return s.hint(ctx, err, target{})
		}
		var page struct {
			Items  []json.RawMessage `json:"items"`
			Cursor string            `json:"cursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if err := eachOf(page.Items, f); err != nil {
			return ended(err)
		}
		if page.Cursor == "" {
			return nil
		}
		query.Set("cursor", page.Cursor)
	}
}

func ended(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
