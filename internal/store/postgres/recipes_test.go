package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/store"
	"berth/test/pgtest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// recipe returns the block of docs/sql.md that begins so.
func recipe(t *testing.T, begins string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)```\n(" + regexp.QuoteMeta(begins) + ".*?)```").FindStringSubmatch(guideText(t))
	if block == nil {
		t.Fatalf("the guide has no block that begins with %s", begins)
	}
	return block[1]
}

// foreign makes what others may have in berth's schema: views of another owner, with and without a
// column cluster, as pg_stat_statements brings, and one of berth's owner without.
const foreign = `CREATE ROLE stranger;
CREATE VIEW stats AS SELECT 1 AS calls, 'x'::text AS query;
CREATE VIEW stats_of_clusters AS SELECT 'demo'::text AS cluster, 'shop'::text AS namespace, 1 AS calls;
CREATE VIEW stats_info AS SELECT 1 AS dealloc;
ALTER VIEW stats OWNER TO stranger;
ALTER VIEW stats_of_clusters OWNER TO stranger;`

// TestReaderConnections: the limit of docs/sql.md stays through a migration.
func TestReaderConnections(t *testing.T) {
	url := private(t)
	statement := regexp.MustCompile("`ALTER ROLE berth_reader CONNECTION LIMIT 20`").FindString(guideText(t))
	if statement == "" {
		t.Fatal("the guide has no such statement")
	}
	execRaw(t, url, strings.Trim(statement, "`"))
	if err := MigrateTo(t.Context(), url, newest(t)-1, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	execRaw(t, url, `ALTER ROLE berth_reader LOGIN`)
	for range 6 {
		login(t, url, "berth_reader")
	}
}

func guideText(t *testing.T) string {
	t.Helper()
	guide, err := os.ReadFile("../../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(guide)
}

// TestReaderOfOneNamespace runs what docs/sql.md describes, in a database with another namespace's
// records and in one without: each view shows the same in both, counts included.
func TestReaderOfOneNamespace(t *testing.T) {
	script := recipe(t, "CREATE SCHEMA only_shop")
	var rows [2]map[string][]string
	for i, both := range []bool{false, true} {
		url := pgtest.Private(t, pgtest.Options{}).URL()
		if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
		fillNamespaces(t, openAt(t, url, Options{}), both)
		execRaw(t, url, foreign)
		execRaw(t, url, script)
		conn := login(t, url, "shop_reader")
		rows[i] = map[string][]string{}
		for _, v := range ask(t, conn, `SELECT relname FROM pg_class WHERE relnamespace = 'only_shop'::regnamespace AND relkind = 'v'`) {
			rows[i][v] = ask(t, conn, `SELECT v::text FROM `+v+` v ORDER BY 1`)
			if text := strings.Join(rows[i][v], "\n"); strings.Contains(text, "rival") {
				t.Errorf("%s shows another namespace:\n%s", v, text)
			}
			// Without rows of both to be told apart a leak would not show.
			in := ask(t, login(t, url, "berth"), `SELECT DISTINCT namespace FROM `+v+` WHERE namespace <> '' ORDER BY 1`)
			if both && strings.Join(in, " ") != "rival shop" {
				t.Errorf("public.%s has rows of the namespaces %v alone", v, in)
			}
			if _, err := conn.Exec(t.Context(), `SELECT * FROM public.`+v); sqlState(err) != statePrivilege {
				t.Errorf("public.%s is open: %v", v, err)
			}
		}
		// What errors say is a way to read, too.
		if got := ask(t, conn, `SELECT count(*) FROM decision_log WHERE 1 / CASE WHEN namespace = 'rival' THEN 0 ELSE 1 END = 1`); got[0] != "5" {
			t.Errorf("count %v", got)
		}
	}
	if diff := cmp.Diff(rows[0], rows[1]); diff != "" {
		t.Errorf("another namespace's records show (-without +with):\n%s", diff)
	}
	for v, list := range rows[1] {
		if len(list) == 0 {
			t.Errorf("%s shows nothing of the namespace itself", v)
		}
	}
	if len(rows[1]) < 20 {
		t.Errorf("only %d views are given", len(rows[1]))
	}
	for _, v := range []string{"pending_reasons", "node_choices", "decision_shares", "decision_durations", "revision_log", "stale_decisions", "stats_of_clusters"} {
		if _, is := rows[1][v]; is {
			t.Errorf("%s is given", v)
		}
	}
}

// fillNamespaces records decisions about pods of the namespace shop and, where both, as many of the
// namespace rival between them, on the same nodes, and the revisions that they made.
func fillNamespaces(t *testing.T, s *Store, both bool) {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	revision := int64(0)
	next := func(objects ...store.RevisionObject) {
		revision++
		r := &store.Revision{Cluster: "demo", Number: revision, Token: fmt.Sprint("t", revision), CreatedAt: start.Add(time.Hour), Cause: "bind", Change: []byte("abc")}
		r.Objects, r.Changes = objects, len(objects)
		if revision > 1 {
			r.ParentToken = fmt.Sprint("t", revision-1)
		}
		e := &store.Entry{Revision: r}
		if revision == 1 {
			r.Change, e.Checkpoint = nil, &store.Checkpoint{Cluster: "demo", Number: 1, Payload: []byte("state")}
		}
		if err := s.Append(t.Context(), []*store.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	next()
	namespaces := []string{"shop"}
	if both {
		namespaces = []string{"rival", "shop", "rival"}
	}
	for i := range 5 {
		for j, namespace := range namespaces {
			d := sampleDecision("demo", fmt.Sprintf("%s-%d-%d", namespace, i, j), start.Add(time.Duration(i)*time.Minute))
			d.Namespace, d.Pod, d.PodUID, d.Node = namespace, namespace+"-pod", namespace+"-uid", fmt.Sprint("n", i)
			if namespace == "shop" {
				d.ID = fmt.Sprint("shop-", i)
			}
			d.Failures = []store.Failure{{
				Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 2, Names: []string{"n8", "n9"},
				Pools: []store.PoolCount{{Pool: "large", Nodes: 2}},
			}}
			d.Scores = []store.Score{{Rank: 1, Node: d.Node, Total: 612, Plugins: store.PluginScores{{Plugin: "ImageLocality", Weighted: 612}}}, {Rank: 2, Node: "n7", Total: 600}}
			d.PodDigest = "sha256:" + strings.Repeat(map[string]string{"shop": "a1", "rival": "b2"}[namespace], 32)
			d.Facts = (&store.PodFacts{Scheduler: "s", Requests: []byte("{}"), Labels: []byte(`{"team":"a"}`)}).Encode()
			if i == 1 {
				d.Outcome = "Unschedulable"
				d.Blockers = store.EncodeBlockers([]store.Blocker{
					{Plugin: "NodeResourcesFit", Kind: "Pod", Namespace: "shop", Name: "shop-batch"},
					{Plugin: "NodeResourcesFit", Kind: "Pod", Namespace: "rival", Name: "rival-batch"},
				}, 2)
			}
			if i >= 3 {
				d.Outcome, d.NominatedNode = "Preempting", "n1"
				for _, of := range []string{"shop", "rival"} {
					d.Victims = append(d.Victims, store.Victim{Namespace: of, Pod: of + "-batch", UID: fmt.Sprint(of, i), Node: "n1"})
				}
			}
			if both {
				next()
			}
			d.Revision, d.BoundRevision, d.Purpose, d.Attempt = revision, revision, "live", d.ID
			e := &store.Entry{Decision: d}
			if err := errors.Join(s.Append(t.Context(), []*store.Entry{e}), e.Err); err != nil {
				t.Fatal(err)
			}
		}
	}
	var gone []store.RevisionObject // so that no stretch of waiting is open, and changes with the clock
	for _, of := range namespaces[:1+len(namespaces)/2] {
		gone = append(gone, store.RevisionObject{Action: store.Deleted, Kind: "Pod", Namespace: of, Name: of + "-pod", UID: of + "-uid"})
		token := &store.Token{
			ID: "t-" + of, Name: of, Hash: []byte(fmt.Sprintf("%-32s", of)), CreatedAt: start,
			Grants: []byte(`[{"role":"viewer","clusters":["demo"],"namespaces":["` + of + `"]}]`),
		}
		if err := s.PutToken(t.Context(), token, &store.AccessChange{ID: "c-" + of, CreatedAt: start, Action: "token.create", Object: of, Detail: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	next(gone...)
	for more := true; more; {
		step, err := s.RollUp(t.Context(), "demo")
		if err != nil {
			t.Fatal(err)
		}
		more = step.More
	}
}

// TestReadOnBySeq reads by the query of docs/sql.md, as the reading role, while two servers write.
func TestReadOnBySeq(t *testing.T) {
	query := strings.Replace(recipe(t, "SELECT seq, id"), ":since", "$1", 1)
	url := freshURL(t)
	writers := []*Store{openAt(t, url, Options{}), openAt(t, url, Options{})}
	const each, batch = 60, 10
	var writing sync.WaitGroup
	for w, s := range writers {
		writing.Go(func() {
			for i := range each {
				var es []*store.Entry
				for j := range batch {
					created := time.Now().Add(-time.Duration(j) * time.Minute) // late ones, too
					es = append(es, &store.Entry{Decision: sampleDecision("demo", fmt.Sprintf("%d-%d-%d", w, i, j), created)})
				}
				if err := s.Append(context.Background(), es); err != nil {
					t.Errorf("Append: %v", err)
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	ask(t, conn, `SET ROLE berth_reader`)
	seen, since := map[string]bool{}, int64(0)
	for ended := false; ; {
		select {
		case <-written:
			ended = true // what comes from here on is the rest
		default:
		}
		page := ask(t, conn, query, since)
		for _, row := range page {
			seq, rest, _ := strings.Cut(row, "|")
			id, _, _ := strings.Cut(rest, "|")
			if since, err = strconv.ParseInt(seq, 10, 64); err != nil || seen[id] {
				t.Fatalf("%s: %v, or seen before", row, err)
			}
			seen[id] = true
		}
		if ended && len(page) == 0 {
			break
		}
	}
	if len(seen) != 2*each*batch {
		t.Errorf("saw %d of %d records", len(seen), 2*each*batch)
	}
}

// TestDaysAreUTC: hour_at and day_at are those of the texts, and of date_trunc with a time zone as
// docs/sql.md writes it, in a session that is elsewhere; without one it cuts another day.
func TestDaysAreUTC(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	d := sampleDecision("demo", "d1", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	d.Outcome, d.Purpose, d.Attempt = "Unschedulable", "live", d.ID
	if err := s.Append(t.Context(), []*store.Entry{{Decision: d}}); err != nil {
		t.Fatal(err)
	}
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	ask(t, conn.Conn(), `SET timezone = 'America/New_York'`)
	defer ask(t, conn.Conn(), `RESET timezone`)
	for query, want := range map[string]string{
		`SELECT DISTINCT s.day, s.day_at = date_trunc('day', created_at, 'UTC'), s.day_at = date_trunc('day', created_at) FROM decision_shares s, decision_log`: "2026-01-02|true|false",
		`SELECT DISTINCT day, day_at = '2026-01-02 00:00Z' FROM node_choices`:                                                                                   "2026-01-02|true",
		`SELECT DISTINCT hour, hour_at = '2026-01-02 03:00Z' FROM pending_reasons`:                                                                              "2026-01-02T03:00:00Z|true",
		`SELECT DISTINCT hour, hour_at = '2026-01-02 03:00Z' FROM top_rejecting_plugins`:                                                                        "2026-01-02T03:00:00Z|true",
		`SELECT DISTINCT hour, hour_at = '2026-01-02 03:00Z' FROM decision_durations`:                                                                           "2026-01-02T03:00:00Z|true",
	} {
		if got := ask(t, conn.Conn(), query); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

// TestPublication publishes as docs/sql.md has it: rows come under the partitioned table's name,
// and what retention removes does not.
func TestPublication(t *testing.T) {
	server := pgtest.Private(t, pgtest.Options{Settings: []string{"wal_level=logical"}})
	url := server.URL()
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	execRaw(t, url, recipe(t, "CREATE PUBLICATION"))
	execRaw(t, url, `SELECT pg_create_logical_replication_slot('warehouse', 'pgoutput')`)
	s := openAt(t, url, Options{})
	appendOne(t, s, "published")
	execRaw(t, url, `DELETE FROM decisions`)
	conn := login(t, url, "berth")
	changes := ask(t, conn, `SELECT chr(get_byte(data, 0)), ('x' || encode(substr(data, 2, 4), 'hex'))::bit(32)::bigint::regclass
FROM pg_logical_slot_peek_binary_changes('warehouse', NULL, NULL, 'proto_version', '1', 'publication_names', 'berth_log') WHERE get_byte(data, 0) IN (68, 73)`)
	if got := strings.Join(changes, " "); got != "I|stamps I|decisions" {
		t.Errorf("changes %s", got)
	}
}

// TestReaderOnStandby logs in on a standby as the reading role, which reads every view there.
func TestReaderOnStandby(t *testing.T) {
	primary := pgtest.Private(t, pgtest.Options{})
	if err := MigrateUp(t.Context(), primary.URL(), MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	execRaw(t, primary.URL(), `ALTER ROLE berth_reader LOGIN`)
	standby := pgtest.Replica(t, primary)
	appendOne(t, openAt(t, primary.URL(), Options{}), "copied")
	conn := login(t, standby.URL(), "berth_reader")
	for range 500 {
		if len(ask(t, conn, `SELECT id FROM decision_log`)) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := ask(t, conn, `SELECT id, now() - pg_last_xact_replay_timestamp() < interval '1 hour' FROM decision_log`); len(got) != 1 || got[0] != "copied|true" {
		t.Errorf("decisions %v", got)
	}
	for _, v := range ask(t, conn, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'`) {
		ask(t, conn, `SELECT * FROM `+v)
	}
}
