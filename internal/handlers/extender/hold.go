package extender

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/handlers/exchange"
	"berth/internal/revision"
)

// neverHeld is for servers that follow no cluster.
func neverHeld(_ context.Context, _ string, _ func() *corev1.Pod, try func(final bool) (bool, error)) error {
	_, err := try(true)
	return err
}

// errRejects ends a judgement whose answer rejects and is not final. Nothing is recorded.
var errRejects = errors.New("the answer rejects, and the state may be behind")

// held calls ask until its answer may be given: ask gives errRejects where final is false and its
// answer rejects. The outcome is counted: the call passed on a later state, it was rejected by one
// that is new enough, or neither in time.
func (a *API) held(r *http.Request, verb string, pod func() *corev1.Pod, ask func(final bool) error) error {
	var since time.Time // the first rejection; zero: there was none
	last := false
	err := a.hold(r.Context(), exchange.ByCluster(r), pod, func(final bool) (bool, error) {
		last = final
		err := ask(final)
		if rejects := errors.Is(err, errRejects); rejects {
			if since.IsZero() {
				since = time.Now()
			}
			return true, nil
		}
		return false, err
	})
	if since.IsZero() {
		return err
	}
	outcome := "passed"
	var behind *revision.BehindError
	switch {
	case errors.As(err, &behind):
		outcome = "behind"
	case last:
		outcome = "rejected"
	}
	a.Metrics.Held(r.Context(), verb, outcome, time.Since(since))
	return err
}

// rejects reports whether no asked node is let pass, or where scores are asked for, whether there
// is a node that the state lacks. What some nodes pass strands no pod.
func (c *call) rejects(verb string, feasible func(row int) bool) bool {
	for _, row := range c.rows {
		if verb == "prioritize" {
			if row < 0 {
				return true
			}
		} else if row >= 0 && feasible(int(row)) {
			return false
		}
	}
	return verb != "prioritize" && len(c.rows) > 0
}

// mayReject reports whether an answer that rejects may be given. A node that the state lacks is not
// rejected where it would have been waited for.
func (a *API) mayReject(name, verb string, c *call, final bool) error {
	if !final {
		c.held = true
		return errRejects
	}
	if verb == "prioritize" || !c.held {
		return nil
	}
	var unknown []string
	for i, row := range c.rows {
		if row < 0 {
			unknown = append(unknown, c.nodeName(i))
		}
	}
	if unknown == nil {
		return nil
	}
	more := ""
	if n := len(unknown) - namedStrangers; n > 0 {
		unknown, more = unknown[:namedStrangers], fmt.Sprintf(" and %d more", n)
	}
	return &exchange.Error{Status: http.StatusConflict, Kind: "behind", Detail: fmt.Sprintf(
		"the state of cluster %s has no node %s%s, though it is as new as this call: ask again", name, strings.Join(unknown, ", "), more)}
}

// namedStrangers is how many nodes an error names that the state lacks.
const namedStrangers = 3

// nodeName is the name of an asked node.
func (c *call) nodeName(i int) string {
	if c.args.HasNodes && !c.args.HasNames {
		return string(c.args.Nodes[i].Name)
	}
	if row := c.args.Rows[i]; row < 0 {
		return string(c.args.Unknown[^row])
	}
	return c.table.names.Name(int(c.args.Rows[i]))
}
