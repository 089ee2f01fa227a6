package follow

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/revision"
)

// Holder holds rejections about clusters that are followed until the state is as
// new as what the caller acted on.
type Holder struct {
	// Newer returns a cluster's newest revision as soon as it is above one;
	// (*revision.Manager).Newer.
	Newer func(ctx context.Context, cluster string, after int64) (*revision.View, error)
	// Follower returns the follower of a cluster: nil if it is not followed.
	Follower func(cluster string) *Follower
	// Atmost is how long to hold a rejection; the rest of the extender's deadline is for the answer
	// and its record. 0 holds none.
	Atmost time.Duration
}

// Hold calls try on the newest state. Where try reports that its answer rejects, it is called again
// on each revision that arrives, and once with final set, when the state holds all that the
// apiserver had when Hold was called; that answer stands. If the state is not shown to be that new
// in time the error is a *revision.BehindError. The kinds that the pod's filters read have to be
// that new. pod is called after the first try, and may return nil.
func (h *Holder) Hold(ctx context.Context, name string, pod func() *corev1.Pod, try func(final bool) (rejects bool, err error)) error {
	f := h.Follower(name)
	if f == nil || h.Atmost <= 0 {
		_, err := try(true)
		return err
	}
	if rejects, err := try(false); err != nil || !rejects {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, h.Atmost)
	defer cancel()
	type proof struct {
		revision int64
		err      error
	}
	proofs, arrivals := make(chan proof, 1), make(chan int64)
	who := pod()
	go func() {
		rev, err := f.Current(limited, who)
		proofs <- proof{rev, err}
	}()
	go func() {
		for seen := int64(0); ; {
			v, err := h.Newer(limited, name, seen)
			if err != nil {
				return // the waiting call has a bound
			}
			seen = v.Revision
			select {
			case arrivals <- seen:
			case <-limited.Done():
				return
			}
		}
	}()
	seen, least, proven := int64(0), int64(0), false
	cause := error(context.DeadlineExceeded)
	for {
		select {
		case seen = <-arrivals:
		case p := <-proofs:
			if p.err != nil {
				cause = p.err
				continue // a revision may still let the pod pass
			}
			if least, proven = p.revision, true; seen < least {
				continue // it arrives
			}
		case <-limited.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return &revision.BehindError{Cluster: name, Waited: h.Atmost, Cause: cause}
		}
		final := proven && seen >= least
		if rejects, err := try(final); err != nil || final || !rejects {
			return err
		}
	}
}
