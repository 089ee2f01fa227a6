package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/store"
	"berth/test/pgtest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// cutter is a proxy that cuts the next connection that commits, either before
// COMMIT reaches the database or after it has taken effect.
type cutter struct {
	target string // a Unix socket
	before atomic.Bool
	armed  atomic.Int32 // how many connections are still to be cut
	away   atomic.Bool  // refuses all new connections
	cuts   atomic.Int32
}

func startCutter(t *testing.T, target string) (*cutter, string) {
	t.Helper()
	cfg, err := pgx.ParseConfig(target)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{target: fmt.Sprintf("%s/.s.PGSQL.%d", cfg.Host, cfg.Port)}
	return c, pgtest.Listen(t, target, c.serve)
}

func (c *cutter) serve(client net.Conn) {
	if c.away.Load() {
		return
	}
	server, err := new(net.Dialer).DialContext(context.Background(), "unix", c.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var wg sync.WaitGroup
	defer wg.Wait()
	back, front := pgproto3.NewBackend(client, client), pgproto3.NewFrontend(server, server)
	start, err := back.ReceiveStartupMessage()
	if err != nil {
		return
	}
	hello, err := start.Encode(nil)
	if err != nil {
		return
	}
	if _, err := server.Write(hello); err != nil {
		return
	}
	wg.Go(func() {
		defer func() { _, _ = client.Close(), server.Close() }()
		for {
			msg, err := front.Receive()
			if err != nil {
				return
			}
			if done, is := msg.(*pgproto3.CommandComplete); is && string(done.CommandTag) == "COMMIT" && !c.before.Load() && c.fire() {
				return // committed, and the answer is lost
			}
			back.Send(msg)
			if back.Flush() != nil {
				return
			}
		}
	})
	defer func() { _, _ = client.Close(), server.Close() }()
	statements := map[string]string{}
	for {
		msg, err := back.Receive()
		if err != nil {
			return
		}
		commit := false
		switch m := msg.(type) {
		case *pgproto3.Parse:
			statements[m.Name] = m.Query
		case *pgproto3.Bind:
			commit = statements[m.PreparedStatement] == "commit"
		case *pgproto3.Query:
			commit = m.String == "commit"
		}
		if commit && c.before.Load() && c.fire() {
			return
		}
		front.Send(msg)
		if front.Flush() != nil {
			return
		}
	}
}

func (c *cutter) fire() bool {
	if c.armed.Add(-1) < 0 {
		c.armed.Store(0)
		return false
	}
	c.cuts.Add(1)
	return true
}

// TestCutAroundCommit cuts the connection on either side of COMMIT, 120 times in all, or as often
// as BERTH_CUTS says (make linear): whatever the caller is told, a record is there once, a chain is
// whole, and a job is done with the part that its worker finished.
func TestCutAroundCommit(t *testing.T) {
	for _, before := range []bool{true, false} {
		for _, size := range []int{1, 8} {
			t.Run(fmt.Sprintf("before=%v/size=%d", before, size), func(t *testing.T) {
				t.Parallel() // each has its own database, and waits most of the time
				cutAroundCommit(t, before, size)
			})
		}
	}
}

func cutAroundCommit(t *testing.T, before bool, size int) {
	direct := openAt(t, freshURL(t), Options{})
	target := direct.pool.Config().ConnString()
	c, url := startCutter(t, target)
	s := openAt(t, url, Options{})
	c.before.Store(before)
	rounds := 30
	if n, err := strconv.Atoi(os.Getenv("BERTH_CUTS")); err == nil {
		rounds = max(rounds, n/4) // in each of four ways
	}
	told := 0
	for round := range rounds {
		var es []*store.Entry
		for i := range size {
			es = append(es, &store.Entry{Decision: sampleDecision("prod", fmt.Sprintf("%02d-%02d", round, i), time.Now()), Fresh: true})
		}
		es[0].Revision = nextRevision(round)
		es[0].Decision.BoundRevision = es[0].Revision.Number
		// Up to the attempts of Append, then one more, so that both a retry of
		// its own and one of the caller's take place.
		c.armed.Store(int32(round%(attempts+1)) + 1)
		for n := 0; ; n++ {
			err := s.Append(t.Context(), es)
			if err == nil {
				break
			}
			told++
			if !errors.Is(err, store.ErrUnavailable) || n > 5 {
				t.Fatalf("Append = %v", err)
			}
		}
		for i, e := range es {
			if e.Err != nil {
				t.Fatalf("round %d, entry %d: %v", round, i, e.Err)
			}
		}
		if size == 1 && round%4 == 0 { // they take long
			cutJob(t, s, c, round)
		}
	}
	if c.cuts.Load() < int32(rounds) || told == 0 {
		t.Errorf("%d cuts, the caller was told of %d", c.cuts.Load(), told)
	}
	var rows, ids int
	if err := direct.pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT id) FROM decisions`).Scan(&rows, &ids); err != nil {
		t.Fatal(err)
	}
	infos, err := direct.Clusters(t.Context(), store.ClusterFilter{})
	if err != nil {
		t.Fatal(err)
	}
	want := store.ClusterInfo{Name: "prod", Newest: int64(rounds), Revisions: int64(rounds), Decisions: int64(rounds * size), CreatedAt: infos[0].CreatedAt}
	if rows != rounds*size || ids != rounds*size || infos[0] != want {
		t.Errorf("%d rows, %d ids, books %+v, want %d and %+v", rows, ids, infos[0], rounds*size, want)
	}
}

// cutJob stores a job and does it as a worker would. Each of its commits is cut, up to the store's
// own attempts and one more.
func cutJob(t *testing.T, s *Store, c *cutter, round int) {
	id := fmt.Sprintf("job-%03d", round)
	armed := int32(round/4%(attempts+1)) + 1
	again := func(what string, do func() error) {
		t.Helper()
		c.armed.Store(armed)
		for n := 0; ; n++ {
			err := do()
			if err == nil {
				return
			}
			if !errors.Is(err, store.ErrUnavailable) || n > 5 {
				t.Fatalf("round %d: %s = %v", round, what, err)
			}
		}
	}
	again("CreateSimulation", func() error {
		sim := &store.Job{ID: id, Cluster: "prod", Revision: int64(round + 1), Verb: "drains", CreatedAt: time.Now()}
		return s.CreateSimulation(t.Context(), sim, map[string][]byte{store.SimulationQuestion: []byte(id)}, store.JobLimits{Unfinished: 1})
	})
	var claimed *store.Job
	again("ClaimJob", func() (err error) {
		claimed, err = s.ClaimJob(t.Context(), store.Simulations, "worker", -time.Second, false) // one that was lost is claimed again
		for end := time.Now().Add(10 * time.Second); errors.Is(err, store.ErrNotFound) && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond) // the cut transaction still holds the row, which a claim skips
			claimed, err = s.ClaimJob(t.Context(), store.Simulations, "worker", -time.Second, false)
		}
		return err
	})
	for _, step := range [][2]string{{store.JobRunning, "part"}, {store.JobDone, store.SimulationResult}} {
		again("AdvanceSimulation", func() error {
			next := *claimed
			next.State = step[0]
			got, err := s.AdvanceSimulation(t.Context(), &next, map[string][]byte{step[1]: []byte(id)}, time.Hour)
			if err == nil && got != step[0] {
				t.Errorf("round %d: the job is %s, want %s", round, got, step[0])
			}
			return err
		})
	}
	c.armed.Store(0)
	for _, part := range []string{store.SimulationQuestion, "part", store.SimulationResult} {
		if got, err := s.SimulationPart(t.Context(), id, part, func(int) error { return nil }); err != nil || string(got) != id {
			t.Errorf("round %d: part %s is %q, %v", round, part, got, err)
		}
	}
	if j, err := s.Job(t.Context(), store.Simulations, id); err != nil || j.State != store.JobDone || j.Attempts > attempts+2 {
		t.Errorf("round %d: %+v, %v", round, j, err)
	}
}

func nextRevision(round int) *store.Revision {
	token := func(n int) string {
		if n < 0 {
			return ""
		}
		return fmt.Sprint("token-", n)
	}
	return &store.Revision{
		Cluster: "prod", Number: int64(round + 1), Token: token(round), ParentToken: token(round - 1),
		CreatedAt: time.Now(), Cause: "bind", Change: []byte{1},
	}
}

// TestDatabaseAway: every call says so, at once and not by waiting, and the
// store works again when the database is back.
func TestDatabaseAway(t *testing.T) {
	c, url := startCutter(t, freshURL(t))
	s := openAt(t, url, Options{})
	appendOne(t, s, "first")
	c.away.Store(true)
	c.before.Store(true)
	c.armed.Store(100) // cuts what is still connected
	start := time.Now()
	for i := range 50 {
		err := s.Append(t.Context(), []*store.Entry{{Decision: sampleDecision("prod", fmt.Sprint("away-", i), time.Now())}})
		if !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("Append = %v", err)
		}
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("50 refusals took %v", took)
	}
	if _, err := s.Newest(t.Context(), "prod"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Newest = %v", err)
	}
	c.armed.Store(0)
	c.away.Store(false)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := s.Append(t.Context(), []*store.Entry{{Decision: sampleDecision("prod", "back", time.Now())}})
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("still away: %v", err)
		}
	}
}

// TestDatabaseHangs: a database that neither answers nor hangs up is one that
// is away.
func TestDatabaseHangs(t *testing.T) {
	target := freshURL(t)
	cfg, err := pgx.ParseConfig(target)
	if err != nil {
		t.Fatal(err)
	}
	var hang atomic.Bool
	url := pgtest.Listen(t, target, func(client net.Conn) {
		server, err := new(net.Dialer).DialContext(context.Background(), "unix", fmt.Sprintf("%s/.s.PGSQL.%d", cfg.Host, cfg.Port))
		if err != nil {
			return
		}
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = io.Copy(server, client); _ = server.Close() })
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err != nil {
				break
			}
			if hang.Load() {
				continue // swallowed
			}
			if _, err := client.Write(buf[:n]); err != nil {
				break
			}
		}
		_, _ = client.Close(), server.Close()
		wg.Wait()
	})
	s := openAt(t, url, Options{WriteTimeout: 5 * time.Second})
	appendOne(t, s, "first")
	hang.Store(true)
	start := time.Now()
	err = s.Append(t.Context(), []*store.Entry{{Decision: sampleDecision("prod", "hung", time.Now())}})
	if !errors.Is(err, store.ErrUnavailable) || time.Since(start) > 30*time.Second {
		t.Errorf("Append = %v after %v", err, time.Since(start))
	}
	if strings.Contains(fmt.Sprint(err), "not found") {
		t.Error(err)
	}
}
