package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Bounds of the cache of reviews.
const (
	reviewFor = 10 * time.Second
	reviews   = 1000
)

// Review asks an apiserver who bears a token; ok is false where it knows none.
type Review func(ctx context.Context, token string) (user string, groups []string, ok bool, err error)

// Kubernetes verifies tokens by TokenReview, such as those of service accounts. What it was told
// counts for ten seconds; kept is the hash of a token. It is safe for concurrent use.
type Kubernetes struct {
	review Review
	known  *lru.Cache[[sha256.Size]byte, reviewed]
}

// reviewed is what an apiserver answered; i is nil for a token that it does not know.
type reviewed struct {
	i     *Identity
	until time.Time
}

// NewKubernetes returns a verifier.
func NewKubernetes(review Review) *Kubernetes {
	known, err := lru.New[[sha256.Size]byte, reviewed](reviews)
	if err != nil {
		panic(err) // of a size that is not above zero
	}
	return &Kubernetes{review: review, known: known}
}

// Mine implements Verifier: any JWT may be the apiserver's.
func (*Kubernetes) Mine(token string) bool { return strings.Count(token, ".") == 2 }

var (
	errNotKnown = errors.New("the apiserver does not know the token")
	errReview   = errors.New("the apiserver that checks tokens cannot be asked now; try again later")
)

// Verify implements Verifier.
func (k *Kubernetes) Verify(ctx context.Context, token string) (*Identity, error) {
	hash := sha256.Sum256([]byte(token))
	r, known := k.known.Get(hash)
	if !known || !time.Now().Before(r.until) {
		r = reviewed{until: time.Now().Add(reviewFor)}
		user, groups, ok, err := k.review(ctx, token)
		if err != nil {
			return nil, errReview
		}
		if ok {
			r.i = &Identity{Kind: KindKubernetes, Name: user, Groups: groups}
		}
		k.known.Add(hash, r)
	}
	if r.i == nil {
		return nil, errNotKnown
	}
	found := *r.i // grants are the caller's to set
	return &found, nil
}
