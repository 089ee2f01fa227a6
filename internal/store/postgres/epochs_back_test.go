package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/test/pgtest"
)

// An old primary that comes back writable is not written to, whichever the address names first.
func TestOldPrimary(t *testing.T) {
	p := newPair(t)
	p.write(1)
	p.standby.Part(t, p.primary)
	p.write(1)
	p.failOver()
	p.follow()
	p.write(1)
	if err := p.primary.Launch(); err != nil {
		t.Fatal(err)
	}
	p.rows(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'berth'`)
	for range 3 {
		p.write(2)
	}
	if n := len(p.rows(`SELECT 1 FROM decisions WHERE seq >= 1000000000`)); n != 7 {
		t.Errorf("%d decisions are in the new primary, want 7", n)
	}
	_, refused := p.noticed.all()
	if len(refused) == 0 || !errors.Is(refused[0], ErrOldPrimary) {
		t.Errorf("refused %v", refused)
	}
	// Alone it is refused, so that the spool takes what is answered.
	p.standby.Halted(t)
	if err := p.server.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("ping of an old primary alone: %v", err)
	}
	conn, err := pgx.Connect(t.Context(), p.primary.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	if got := ask(t, conn, `SELECT count(*) FROM decisions`); !slices.Equal(got, []string{"2"}) {
		t.Errorf("the old primary has %v decisions", got)
	}
}

// A database that was put back to an earlier state is noticed on its own timeline.
func TestDatabasePutBack(t *testing.T) {
	s := pgtest.Private(t, pgtest.Options{})
	migratedIn(t, s.URL())
	p := &pair{t: t, primary: s, standby: s, url: s.URL()}
	p.server = openAt(t, p.url, Options{Epochs: p.noticed.options("a")})
	p.write(1)
	s.Halted(t)
	back := s.Keep(t)
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	lost := p.write(2)
	s.Halted(t)
	back()
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	p.follow()
	changes, _ := p.noticed.all()
	if len(changes) != 1 || len(changes[0].Losses) != 1 || changes[0].To.Timeline != 1 {
		t.Fatalf("noticed %+v", changes)
	}
	l := changes[0].Losses[0]
	if slices.Sort(l.IDs); l.Lost != 2 || l.FirstRevision != 2 || l.LastRevision != 2 || !slices.Equal(l.IDs, slices.Sorted(slices.Values(lost))) {
		t.Errorf("lost %+v, want %v", l, lost)
	}
	p.write(1)
	p.good()
}

// A restart that lost nothing is none of a server's business, however PostgreSQL ended.
func TestRestartIsNoFailover(t *testing.T) {
	s := pgtest.Private(t, pgtest.Options{})
	migratedIn(t, s.URL())
	p := &pair{t: t, primary: s, standby: s, url: s.URL()}
	p.server = openAt(t, p.url, Options{Epochs: p.noticed.options("a")})
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGINT, syscall.SIGQUIT} {
		p.write(3)
		if _, err := p.server.Heads(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.write(1)
		if err := s.Halt(sig); err != nil {
			t.Fatal(err)
		}
		if err := s.Launch(); err != nil {
			t.Fatal(err)
		}
		p.follow()
	}
	if changes, refused := p.noticed.all(); len(changes)+len(refused) > 0 || p.head.Number != 6 {
		t.Errorf("noticed %+v, %v, the newest revision is %d", changes, refused, p.head.Number)
	}
}

// A role that may read neither timeline nor system identifier is served all the same, and what a
// database lacks after an outage is noticed.
func TestIdentityThatMayNotBeRead(t *testing.T) {
	s := pgtest.Private(t, pgtest.Options{})
	migratedIn(t, s.URL())
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	const rights = `CREATE ROLE plain LOGIN; GRANT ALL ON SCHEMA public TO plain; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain;
GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO plain;`
	if _, err := conn.Exec(t.Context(), rights+`REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn), pg_control_system() FROM PUBLIC`); err != nil {
		t.Fatal(err)
	}
	var n noticed
	plain := openAt(t, pgtest.With(s.URL(), "user", "plain"), Options{Epochs: n.options("a")})
	p := &pair{t: t, server: plain, standby: s}
	p.write(1)
	if met := plain.epochs.met(); met.timeline != 0 || met.system != "" || met.epoch != 0 {
		t.Errorf("met %+v", met)
	}
	if _, err := conn.Exec(t.Context(), `DELETE FROM decisions; DELETE FROM seals; UPDATE clusters SET seals = 0, seal_hash = ''`); err != nil {
		t.Fatal(err)
	}
	if err := s.Halt(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	p.follow()
	p.follow()
	if changes, _ := n.all(); len(changes) != 1 || len(changes[0].Losses) != 1 || changes[0].Losses[0].Lost != 1 {
		t.Errorf("noticed %+v", changes)
	}
}

// What a connection commits after its database was left is not acknowledged by that commit: it is
// written again.
func TestCommitOnConnectionFromBefore(t *testing.T) {
	s := openAt(t, freshURL(t), Options{Epochs: new(noticed).options("a")})
	p := &pair{t: t, server: s}
	p.write(1)
	holder, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release()
	if _, err := holder.Exec(t.Context(), `BEGIN; SELECT 1 FROM clusters FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	d := sampleDecision("prod", uuid.NewString(), time.Now())
	d.PodUID = uuid.NewString()
	done := make(chan error, 1)
	go func() { done <- s.Append(context.Background(), []*store.Entry{{Decision: d}}) }()
	for waits := 0; waits == 0; {
		if err := holder.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	s.epochs.mem.copy(true)
	if _, err := holder.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.epochs.mem.mu.Lock()
	defer s.epochs.mem.mu.Unlock()
	remembered := 0
	for _, r := range s.epochs.mem.records {
		if r.id.String() == d.ID {
			remembered++
		}
	}
	if remembered != 1 {
		t.Errorf("the record was remembered %d times", remembered)
	}
}

// What is remembered is bounded, and what was forgotten is not taken for nothing.
func TestRememberedIsBounded(t *testing.T) {
	m := &remembered{of: map[string]*clusterMemory{}}
	now := time.Now()
	of := &clusterMemory{cluster: "prod"}
	m.of["prod"] = of
	add := func(seal int64, at time.Time) {
		m.records = append(m.records, acknowledged{uuid.New(), at.UnixMicro(), seal, of})
		m.trim(at)
	}
	for n := range int64(8000) {
		add(n, now)
	}
	for n := range int64(8000) {
		add(8000+n, now.Add(rememberFor+time.Second))
	}
	if n := len(m.records); n > 12000 || of.dropped < 4000 || of.dropped >= 8000 {
		t.Errorf("%d records are remembered, the last one forgotten is of seal %d", n, of.dropped)
	}
	m.records = slices.Grow(m.records, maxRemembered)
	for n := range int64(maxRemembered + 20000) {
		add(20000+n, now.Add(rememberFor+time.Second))
	}
	if n := len(m.records); n > maxRemembered+maxRemembered/64 || of.dropped < 20000 {
		t.Errorf("%d records are remembered, the last one forgotten is of seal %d", n, of.dropped)
	}
}

// A database with thousands of clusters begins an epoch, and gets a gap of each, in one go.
func TestEpochOfManyClusters(t *testing.T) {
	url := freshURL(t)
	s := openAt(t, url, Options{Epochs: new(noticed).options("a")})
	const clusters = 3000
	var entries []*store.Entry
	for n := range clusters {
		name := fmt.Sprint("c-", n)
		r := &store.Revision{Cluster: name, Number: 1, Token: store.NewToken(1), CreatedAt: time.Now(), Digest: "sha256:1", Cause: "upload", Summary: []byte("{}")}
		entries = append(entries, &store.Entry{Revision: r, Checkpoint: &store.Checkpoint{Cluster: name, Number: 1}})
	}
	for part := range slices.Chunk(entries, 500) {
		if err := s.Append(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.pool.Exec(t.Context(), `UPDATE chain_epochs SET timeline = 99`); err != nil {
		t.Fatal(err)
	}
	var n noticed
	began := time.Now()
	later := openAt(t, url, Options{Epochs: n.options("b")})
	if err := later.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d clusters took %v", clusters, time.Since(began))
	if changes, _ := n.all(); len(changes) != 1 || len(changes[0].Losses) != clusters {
		t.Fatalf("noticed %d changes", len(changes))
	}
	gaps, err := later.ListGaps(t.Context(), "")
	if err != nil || len(gaps) != clusters {
		t.Errorf("%d gaps, %v", len(gaps), err)
	}
	for _, name := range []string{"c-0", "c-2999"} {
		r, err := audit.Verify(t.Context(), later, name, audit.Options{})
		if err != nil || !r.Good() || r.Rows[store.SealGaps] != 1 || r.Rows[store.SealRevisions] != 2 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
