package follow

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"
)

// reviewTimeout bounds a TokenReview.
const reviewTimeout = 3 * time.Second

// Reviewer asks an apiserver who bears a token. It is safe for concurrent use.
type Reviewer struct {
	client    *rest.RESTClient
	audiences []string
}

// NewReviewer makes a reviewer. Without audiences a token has to be for the apiserver itself.
func NewReviewer(c *rest.Config, audiences []string) (*Reviewer, error) {
	r, err := client(c, authenticationv1.SchemeGroupVersion)
	return &Reviewer{r, audiences}, err
}

// Review posts a TokenReview, as kube-apiserver's webhook authenticator does
// (apiserver/plugin/pkg/authenticator/token/webhook, AuthenticateToken). A token is known only if
// it is for one of the audiences that were named: an apiserver that does not know about audiences
// returns none.
func (r *Reviewer) Review(ctx context.Context, token string) (user string, groups []string, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	out := &authenticationv1.TokenReview{}
	ask := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: r.audiences}}
	if err := r.client.Post().MaxRetries(0).Resource("tokenreviews").Body(ask).Do(ctx).Into(out); err != nil {
		return "", nil, false, err
	}
	if !out.Status.Authenticated || len(r.audiences) > 0 && len(out.Status.Audiences) == 0 {
		return "", nil, false, nil
	}
	return out.Status.User.Username, out.Status.User.Groups, true, nil
}
