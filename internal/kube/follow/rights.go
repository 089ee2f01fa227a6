package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
)

// Right is what berth may have to do in a cluster.
type Right struct {
	Verb, Group, Resource, Subresource string
	// Optional is set for kinds that not every cluster serves.
	Optional bool
}

// String returns the right as "list apps/replicasets".
func (r Right) String() string {
	text := r.Resource
	if r.Group != "" {
		text = r.Group + "/" + text
	}
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	return r.Verb + " " + text
}

// Rights lists what following a cluster takes, and binding in it.
func Rights(binding bool) (list []Right) {
	for _, k := range kinds {
		for _, verb := range k.Verbs() {
			list = append(list, Right{Verb: verb, Group: k.Group.Group, Resource: k.Resource, Optional: k.Optional})
		}
	}
	if binding {
		list = append(list, Right{Verb: "create", Resource: "pods", Subresource: "binding"})
	}
	return list
}

// Denied returns those of the rights that the apiserver denies to the credentials, by a
// SelfSubjectAccessReview each, which every authenticated user may create.
func Denied(ctx context.Context, c *rest.Config, rights []Right) (denied []Right, err error) {
	h, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	defer h.CloseIdleConnections()
	r, err := clientOver(c, authorizationv1.SchemeGroupVersion, h)
	if err != nil {
		return nil, err
	}
	for _, right := range rights {
		review := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: right.Verb, Group: right.Group, Resource: right.Resource, Subresource: right.Subresource},
		}}
		review.APIVersion, review.Kind = authorizationv1.SchemeGroupVersion.String(), "SelfSubjectAccessReview"
		body, err := json.Marshal(&review)
		if err != nil {
			return nil, fmt.Errorf("write a review: %w", err)
		}
		raw, err := r.Post().Resource("selfsubjectaccessreviews").SetHeader("Content-Type", "application/json").
			SetHeader("Accept", "application/json").Body(body).Do(ctx).Raw()
		if err != nil {
			return nil, fmt.Errorf("review of %s: %w", right, err)
		}
		if err := json.Unmarshal(raw, &review); err != nil {
			return nil, fmt.Errorf("read the review of %s: %w", right, err)
		}
		if !review.Status.Allowed {
			denied = append(denied, right)
		}
	}
	return denied, nil
}

// APIServer is what an apiserver tells of itself to any client.
type APIServer struct {
	Version version.Info
	// Ahead is by how much its clock is ahead of this machine's, to within Within.
	Ahead, Within time.Duration
}

// Ask returns the version and the clock of a cluster's apiserver.
func Ask(ctx context.Context, c *rest.Config) (*APIServer, error) {
	h, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	defer h.CloseIdleConnections()
	base, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("version").String(), nil)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	began := time.Now()
	resp, err := h.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET /version: %s", resp.Status)
	}
	s := &APIServer{Within: time.Second/2 + time.Since(began)/2} // Date is in whole seconds
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 1<<20)).Decode(&s.Version); err != nil {
		return nil, fmt.Errorf("GET /version: %w", err)
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		s.Ahead = date.Add(time.Second / 2).Sub(began.Add(time.Since(began) / 2))
	}
	return s, nil
}
