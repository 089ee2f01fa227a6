package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/handlers"
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
		var page handlers.ObjectList
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
