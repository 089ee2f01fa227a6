package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"berth/internal/store"
	"berth/internal/store/groupcommit"
)

// The test binary starts itself with this variable set to play another
// process; childDir says on which directory.
const (
	childRole = "BERTH_STORE_TEST_CHILD"
	childDir  = "BERTH_STORE_TEST_DIR"
)

// runChild plays a role and returns the exit code.
func runChild(role string) int {
	var err error
	switch role {
	case "open":
		err = childOpen()
	case "write":
		err = childWrite()
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// childOpen opens the store and closes it.
func childOpen() error {
	s, err := Open(context.Background(), os.Getenv(childDir), Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

// childWrite commits decisions and bound revisions from 16 goroutines until it
// is killed, and prints the id of each that was acknowledged.
func childWrite() error {
	ctx := context.Background()
	s, err := Open(ctx, os.Getenv(childDir), Options{})
	if err != nil {
		return err
	}
	g := groupcommit.NewGroup(s, groupcommit.Options{CallersWrite: true})
	var out sync.Mutex
	errs := make(chan error)
	for w := range 16 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), w, i)
				e := &store.Entry{Decision: sampleDecision("prod", id, time.Now())}
				e.Decision.Revision = 0
				if w == 0 {
					if err := bindNext(ctx, s, e); err != nil {
						errs <- err
						return
					}
				}
				if err := g.Commit(ctx, e); err != nil {
					errs <- fmt.Errorf("commit %s: %w", id, err)
					return
				}
				out.Lock()
				fmt.Println(id)
				out.Unlock()
			}
		}()
	}
	return <-errs
}

// bindNext adds the next revision to an entry.
func bindNext(ctx context.Context, s *Store, e *store.Entry) error {
	parent, err := s.Newest(ctx, e.Decision.Cluster)
	if errors.Is(err, store.ErrNotFound) {
		parent, err = &store.Revision{}, nil
	}
	if err != nil {
		return err
	}
	e.Revision = &store.Revision{
		Cluster: e.Decision.Cluster, Number: parent.Number + 1, Token: e.Decision.ID, ParentToken: parent.Token,
		CreatedAt: time.Now(), Cause: "bind", Change: []byte(e.Decision.ID),
	}
	e.Decision.BoundRevision = e.Revision.Number
	return nil
}

// sampleDecision is what a decision over 5,000 nodes comes to: about 1 KB.
func sampleDecision(cluster, id string, created time.Time) *store.Decision {
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	return &store.Decision{
		ID: id, Cluster: cluster, Revision: 1, Verb: "decide", CreatedAt: created, Now: created,
		Namespace: "shop", Pod: "cart-" + id, PodUID: "8f14e45f-ceea-467f-a8d2-" + id,
		Profile: "default-scheduler", ProfileDigest: digest, Engine: "v0.1.0", Semantics: "v1.36.3",
		SnapshotDigest: digest, PodDigest: digest, Outcome: "Scheduled", Node: "node-0" + id[len(id)-1:],
		NodesTotal: 5000, NodesFeasible: 4212, AnswerDigest: digest, DurationMicros: 117,
		Input: []byte(`{"pod":{"metadata":{"namespace":"shop","name":"cart","labels":{"app":"cart","tier":"web"}},"spec":{"containers":[{"resources":{"requests":{"cpu":"500m","memory":"512Mi"}}}]}}}`),
		Failures: []store.Failure{
			{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 612, Names: []string{"node-17", "node-18"}},
			{Plugin: "TaintToleration", Code: "UnschedulableAndUnresolvable", Reason: "node(s) had untolerated taint {dedicated: gpu}", Nodes: 176},
		},
		Scores: []store.Score{
			{Rank: 1, Node: "node-0" + id[len(id)-1:], Total: 612},
			{Rank: 2, Node: "node-11", Total: 611},
			{Rank: 3, Node: "node-12", Total: 611},
			{Rank: 4, Node: "node-13", Total: 598},
			{Rank: 5, Node: "node-14", Total: 590},
		},
	}
}
