package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/test/pgtest"
)

// noticed collects what a server is told of epochs.
type noticed struct {
	mu      sync.Mutex
	changes []*store.EpochChange
	refused []error
}

func (n *noticed) options(instance string) *EpochOptions {
	return &EpochOptions{
		Instance: instance, Change: []byte("nothing"), Woken: []byte{1, 0, 0, 0},
		Changed: func(c *store.EpochChange) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.changes = append(n.changes, c)
		},
		Refused: func(err error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.refused = append(n.refused, err)
		},
	}
}

func (n *noticed) all() ([]*store.EpochChange, []error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.changes), slices.Clone(n.refused)
}

// pair is a primary with a standby, and a server that uses whichever takes writes.
type pair struct {
	t                *testing.T
	primary, standby *pgtest.Server
	url              string
	server           *Store
	noticed          noticed
	answered         []string // ids of decisions
	head             store.Revision
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, primary: pgtest.Private(t, pgtest.Options{})}
	migratedIn(t, p.primary.URL())
	p.standby = pgtest.Replica(t, p.primary)
	p.url = pgtest.Either(p.primary, p.standby)
	p.server = openAt(t, p.url, Options{Epochs: p.noticed.options("a")})
	return p
}

// write writes a revision and decisions on it, as often as it takes, and returns their ids.
func (p *pair) write(decisions int) []string {
	p.t.Helper()
	now := time.Now()
	r := &store.Revision{
		Cluster: "prod", Number: p.head.Number + 1, Token: store.NewToken(p.head.Number + 1), ParentToken: p.head.Token,
		CreatedAt: now, Digest: "sha256:1", Cause: "change", Change: []byte("x"), Summary: []byte("{}"),
	}
	entries := []*store.Entry{{Revision: r}}
	if p.head.Number == 0 {
		r.Cause, r.Change, entries[0].Checkpoint = "upload", nil, &store.Checkpoint{Cluster: "prod", Number: 1, Payload: []byte("x")}
	}
	var ids []string
	for range decisions {
		d := sampleDecision("prod", uuid.NewString(), now)
		d.Revision, d.PodUID = r.Number, uuid.NewString()
		ids = append(ids, d.ID)
		entries = append(entries, &store.Entry{Decision: d, Fresh: true})
	}
	p.retry(func(ctx context.Context) error {
		if err := p.server.Append(ctx, entries); err != nil {
			return err
		}
		for _, e := range entries {
			if e.Err != nil {
				p.t.Fatal(e.Err)
			}
		}
		return nil
	})
	p.head, p.answered = *r, append(p.answered, ids...)
	return ids
}

// retry calls f until the database answers.
func (p *pair) retry(f func(context.Context) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	for {
		err := f(ctx)
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
			p.t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// follow reads the newest revision, as a server does before it writes again.
func (p *pair) follow() {
	p.t.Helper()
	p.retry(func(ctx context.Context) error {
		r, err := p.server.Newest(ctx, "prod")
		if err == nil {
			p.head = *r
		}
		return err
	})
}

// switchOver ends the primary when the standby has all of its log.
func (p *pair) switchOver() {
	p.t.Helper()
	if err := p.primary.Halt(syscall.SIGINT); err != nil { // it waits for its standbys
		p.t.Fatal(err)
	}
	p.standby.Promote(p.t)
}

// failOver ends the primary, and promotes a standby that lacks what was written since Part.
func (p *pair) failOver() {
	p.t.Helper()
	p.primary.Halted(p.t)
	p.standby.Promote(p.t)
}

// rows returns a query's rows on the standby, as JSON.
func (p *pair) rows(query string) (out []string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.standby.URL())
	if err != nil {
		p.t.Fatal(err)
	}
	defer hangUp(conn)
	return ask(p.t, conn, query)
}

// good checks the chain.
func (p *pair) good() {
	p.t.Helper()
	r, err := audit.Verify(p.t.Context(), p.server, "prod", audit.Options{})
	if err != nil || !r.Good() {
		p.t.Errorf("the chain: %+v, %v", r, err)
	}
}

// A switchover raises no alarm, and no number is given out twice.
func TestSwitchover(t *testing.T) {
	p := newPair(t)
	p.write(3)
	p.write(3)
	p.switchOver()
	p.follow()
	if p.head.Number != 1_000_000_000 || p.head.Cause != store.CauseEpoch || string(p.head.Digest) != "sha256:1" {
		t.Errorf("the epoch begins with %+v", p.head)
	}
	p.write(2)
	if p.head.Number != 1_000_000_001 {
		t.Errorf("the next revision is %d", p.head.Number)
	}
	changes, refused := p.noticed.all()
	if len(changes) != 1 || len(changes[0].Losses) != 0 || !changes[0].Remembers || changes[0].From.Number != 0 || changes[0].To.Number != 1 ||
		changes[0].From.Timeline != 1 || changes[0].To.Timeline != 2 || changes[0].From.System != changes[0].To.System {
		t.Errorf("noticed %+v", changes)
	}
	if len(refused) > 0 {
		t.Errorf("refused %v", refused)
	}
	want := []string{"0|a|1|0", "1|a|2|0"}
	if diff := cmp.Diff(want, p.rows(`SELECT number, instance, timeline, lost FROM chain_epochs_log ORDER BY number`)); diff != "" {
		t.Errorf("epochs (-want +got):\n%s", diff)
	}
	if gaps, err := p.server.ListGaps(t.Context(), ""); err != nil || len(gaps) > 0 {
		t.Errorf("gaps %v, %v", gaps, err)
	}
	want = []string{"1", "2", "3", "4", "5", "6", "1000000000", "1000000001"}
	if diff := cmp.Diff(want, p.rows(`SELECT seq FROM decisions ORDER BY seq`)); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if n := len(p.rows(`SELECT id FROM decisions`)); n != len(p.answered) {
		t.Errorf("%d of %d decisions are there", n, len(p.answered))
	}
	p.good()
	// A server that starts now has nothing to say.
	var later noticed
	s := openAt(t, p.url, Options{Epochs: later.options("b")})
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if changes, _ := later.all(); len(changes) > 0 || len(p.rows(`SELECT 1 FROM chain_epochs`)) != 2 {
		t.Errorf("a later server says %+v", changes)
	}
	// No row can hide at the numbers that were left out.
	p.rows(`WITH d AS (SELECT to_jsonb(d) || '{"id": "forged", "seq": 77}' AS row FROM decisions d LIMIT 1)
INSERT INTO decisions SELECT (jsonb_populate_record(NULL::decisions, row)).* FROM d RETURNING 1`)
	p.rows(`WITH r AS (SELECT to_jsonb(r) || '{"number": 99, "token": "forged", "parent_token": "forged"}' AS row FROM revisions r WHERE number = 2)
INSERT INTO revisions SELECT (jsonb_populate_record(NULL::revisions, row)).* FROM r RETURNING 1`)
	report, err := audit.Verify(t.Context(), p.server, "prod", audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range report.Findings {
		found = append(found, fmt.Sprint(f.Table, " ", f.What, " ", f.From))
	}
	if diff := cmp.Diff([]string{"decisions inserted 77", "revisions inserted 99"}, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// A failover that lost commits is on record, with each decision and the revisions.
func TestFailoverThatLost(t *testing.T) {
	p := newPair(t)
	p.write(3)
	p.standby.Part(t, p.primary)
	lost := slices.Concat(p.write(2), p.write(2))
	// One more server that only reads, and one that wrote nothing and read nothing.
	var reads, silent noticed
	reader := openAt(t, p.url, Options{Epochs: reads.options("reader")})
	if _, err := reader.Heads(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := openAt(t, p.url, Options{Epochs: silent.options("silent")})
	if err := other.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.failOver()
	p.follow()
	if p.head.Number != 1_000_000_000 {
		t.Errorf("the epoch begins with %+v", p.head)
	}
	p.write(1)
	for _, s := range []*Store{reader, other} {
		p.retry(s.Ping)
	}
	slices.Sort(lost)
	changes, _ := p.noticed.all()
	if len(changes) != 1 || len(changes[0].Losses) != 1 {
		t.Fatalf("noticed %+v", changes)
	}
	l := changes[0].Losses[0]
	slices.Sort(l.IDs)
	if diff := cmp.Diff(lost, l.IDs); diff != "" || l.Lost != 4 || l.Cluster != "prod" || l.FirstRevision != 2 || l.LastRevision != 3 {
		t.Errorf("lost %+v (-want +got):\n%s", l, diff)
	}
	changes, _ = reads.all()
	if len(changes) != 1 || len(changes[0].Losses) != 1 || changes[0].Losses[0].Lost != store.UnknownLoss || changes[0].Losses[0].FirstRevision != 2 || changes[0].Losses[0].LastRevision != 3 {
		t.Errorf("the reader noticed %+v", changes)
	}
	if changes, _ := silent.all(); len(changes) != 1 || len(changes[0].Losses) != 0 || changes[0].Remembers {
		t.Errorf("a server that knows nothing noticed %+v", changes)
	}
	want := []string{"0||a|0|-1|-1", "1||a|4|-1|-1", "1||reader|-1|-1|-1", "1|prod|a|4|2|3", "1|prod|reader|-1|2|3"}
	if diff := cmp.Diff(want, p.rows(`SELECT number, cluster, instance, coalesce(lost, -1), coalesce(first_revision, -1), coalesce(last_revision, -1) FROM chain_epochs_log ORDER BY number, cluster, instance`)); diff != "" {
		t.Errorf("epochs (-want +got):\n%s", diff)
	}
	var named []string
	if err := json.Unmarshal([]byte(p.rows(`SELECT ids FROM chain_epochs WHERE cluster = 'prod' AND instance = 'a'`)[0]), &named); err != nil {
		t.Fatal(err)
	}
	slices.Sort(named)
	if diff := cmp.Diff(lost, named); diff != "" {
		t.Errorf("named (-want +got):\n%s", diff)
	}
	gaps, err := p.server.ListGaps(t.Context(), "prod")
	if err != nil || len(gaps) != 2 {
		t.Fatalf("gaps %v, %v", gaps, err)
	}
	for _, g := range gaps {
		if g.Cause != store.CauseFailover || g.Instance == "a" && (g.Lost != 4 || g.Until.Sub(g.Since) > time.Minute) {
			t.Errorf("gap %+v", g)
		}
	}
	p.good()
}

// A failover before which every server ended leaves the time since the newest record.
func TestFailoverNobodyRemembers(t *testing.T) {
	p := newPair(t)
	p.write(1)
	p.standby.Part(t, p.primary)
	p.write(1)
	if err := p.server.Close(); err != nil {
		t.Fatal(err)
	}
	p.failOver()
	before := time.Now()
	var n noticed
	p.server = openAt(t, p.url, Options{Epochs: n.options("b")})
	p.follow()
	changes, _ := n.all()
	if len(changes) != 1 || len(changes[0].Losses) != 1 || changes[0].Remembers {
		t.Fatalf("noticed %+v", changes)
	}
	kept, err := time.Parse(time.RFC3339Nano, p.rows(`SELECT to_char(max(created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM decisions`)[0])
	if err != nil {
		t.Fatal(err)
	}
	if l := changes[0].Losses[0]; l.Lost != store.UnknownLoss || !l.Since.Equal(kept) || l.Until.Before(before) || l.FirstRevision != 0 {
		t.Errorf("lost %+v, the newest record is of %v", l, kept)
	}
	p.good()
}
