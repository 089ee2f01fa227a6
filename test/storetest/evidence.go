package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/internal/store"
)

// replayed is the result of a single replay.
func replayed(id, decision string, seq int64, identical bool) *store.ReplayResult {
	return &store.ReplayResult{
		ID: id, Cluster: "prod", DecisionID: decision, Seq: seq, Identical: identical, Semantics: "v1",
		ProfileDigest: "sha256:aa", CreatedAt: at(300), Asked: store.Asked{By: "token:sre", Peer: "10.0.0.7", RequestID: "r"},
	}
}

// denial is a count of refused calls.
func denial(minute int, count int64) store.Denial {
	const caller = "token:ci"
	m := at(0).Truncate(time.Minute).Add(time.Duration(minute) * time.Minute)
	return store.Denial{
		Minute: m, Instance: "i1", Cluster: "prod", Caller: caller, Route: "/v1/decisions", Status: 403, Reason: "forbidden",
		AskedBy: caller, Peer: "10.0.0.7", Count: count, FirstAt: m.Add(time.Second), LastAt: m.Add(2 * time.Second),
	}
}

func init() {
	register("Evidence", cases{
		"ABadReplayIsRefused": func(t *testing.T, s store.Store) {
			for _, change := range []func(*store.ReplayResult){
				func(r *store.ReplayResult) { r.ID = "" }, func(r *store.ReplayResult) { r.Cluster = "" },
				func(r *store.ReplayResult) { r.DecisionID = "" }, func(r *store.ReplayResult) { r.Overrides = "\x00" },
				func(r *store.ReplayResult) { r.CreatedAt = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) },
			} {
				r := replayed("p1", "d1", 1, true)
				change(r)
				wantErr(t, fmt.Sprintf("PutReplay(%+v)", r), s.PutReplay(t.Context(), r), store.ErrInvalid)
			}
		},
	}, calls{
		"PutReplay": func(ctx context.Context, s store.Store) error { return s.PutReplay(ctx, replayed("p1", "d1", 1, true)) },
		"PutDenials": func(ctx context.Context, s store.Store) error {
			return s.PutDenials(ctx, []store.Denial{denial(0, 1)})
		},
	})
}

// EvidenceViews stores decisions, replays, refusals, tokens and removals in an empty store and
// compares what the views say about them.
func EvidenceViews(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	appendAll(t, s, revision("prod", 1))
	for i := range 5 {
		d := decision("prod", fmt.Sprintf("d%d", i+1), at(10+i))
		d.Revision, d.ProfileDigest = 1, "sha256:aa"
		if i == 4 {
			d.Purpose, d.Attempt = "live", d.ID
		}
		appendAll(t, s, &store.Entry{Decision: d})
	}
	replayViews(t, s, ask)

	for range 2 { // the second is a retry
		wantErr(t, "PutDenials", s.PutDenials(t.Context(), []store.Denial{
			denial(0, 3), {Minute: at(0).Truncate(time.Minute), Instance: "i1", Reason: store.DenialsCut, Count: 9, FirstAt: at(0), LastAt: at(1)},
		}), nil)
	}
	wantErr(t, "PutDenials", s.PutDenials(t.Context(), []store.Denial{denial(0, 4), denial(600, 1)}), nil)
	wantErr(t, "PutDenials of nothing", s.PutDenials(t.Context(), nil), nil)
	token := accessToken("a")
	token.Grants = []byte(`[{"role":"viewer","clusters":["prod","edge-*"],"namespaces":["shop"]},{"role":"admin","clusters":["*"],"namespaces":["*"]}]`)
	wantErr(t, "PutToken", s.PutToken(t.Context(), token, accessChange("1")), nil)
	compareRows(t, ask, []question{
		{`SELECT cluster, asked_by, peer, route, status, reason, count FROM denied_calls WHERE asked_by IS NOT NULL ORDER BY time`, []string{
			"prod|token:ci|10.0.0.7|/v1/decisions|403|forbidden|3", "prod|token:ci|10.0.0.7|/v1/decisions|403|forbidden|1",
		}},
		{`SELECT cluster, reason, count, time FROM denied_calls WHERE asked_by IS NULL AND peer IS NULL`, []string{"|cut|9|2026-02-28T23:59:00.000000Z"}},
		{`SELECT cluster, token, role, namespace FROM token_grants ORDER BY role, cluster`, []string{
			"*|" + token.Name + "|admin|*", "edge-*|" + token.Name + "|viewer|shop", "prod|" + token.Name + "|viewer|shop",
		}},
		{`SELECT number, kind, seq, decisions FROM seal_log WHERE cluster = 'prod' ORDER BY number`, []string{
			"1|beginning|0|0", "2|rows|1|1", "3|rows|2|1", "4|rows|3|1", "5|rows|4|1", "6|rows|5|1",
		}},
		{`SELECT count(*) FROM seal_log WHERE created_at IS NULL OR time IS NULL OR epoch <> 0 OR length(hash) <> 71`, []string{"0"}},
		{`SELECT count(*) FROM seal_log s JOIN seal_log b ON b.cluster = s.cluster AND b.number = s.number - 1 WHERE s.previous = b.hash`, []string{"5"}},
		{`SELECT number FROM seal_log WHERE previous IS NULL`, []string{"1"}},
	})
	retentionViews(t, s, ask)
}

// replayViews is the part of EvidenceViews that is about replays.
func replayViews(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	for range 2 {
		wantErr(t, "PutReplay", s.PutReplay(t.Context(), replayed("p1", "d4", 4, true)), nil)
	}
	under := replayed("p2", "d5", 5, false)
	under.Overrides, under.Differences, under.ProfileDigest, under.Asked = "profile", 7, "", store.Asked{}
	wantErr(t, "PutReplay", s.PutReplay(t.Context(), under), nil)
	r := &store.Job{
		Kind: store.Replays, ID: "b1", Cluster: "prod", State: store.JobQueued, Since: at(0), Until: at(14), CreatedAt: at(200), AskedBy: "token:ci",
		ThroughSeq: 3, Semantics: "v2",
	}
	part := &store.ReplayPart{Cluster: "prod", First: 1, Last: 1, ReplayCounts: store.ReplayCounts{Total: 3}}
	wantErr(t, "CreateReplay", s.CreateReplay(t.Context(), r, []*store.ReplayPart{part}, store.JobLimits{}), nil)
	part = claim(t, s, "w", long)
	after := *part
	after.State, after.Done, after.Identical, after.Different, after.Errors = store.JobDone, 3, 1, 1, 1
	after.Cursor = store.ReplayCursor{Revision: 1, CreatedAt: at(12), ID: "d3"}
	differ := []*store.ReplayDifference{
		{ReplayCursor: store.ReplayCursor{Revision: 1, CreatedAt: at(11), ID: "d2"}, Payload: []byte(`{"differences":[{"path":"a"},{"path":"b"}],"differencesOmitted":3}`)},
		{ReplayCursor: after.Cursor, Payload: []byte(`{"error":"ü"}`)},
	}
	log := question{
		`SELECT decision_id, seq, CASE WHEN identical THEN 'same' ELSE 'other' END, coalesce(differences, -1), overrides, semantics,
coalesce(profile_digest, ''), replay, CASE WHEN batch THEN 'batch' ELSE 'single' END, coalesce(asked_by, ''), coalesce(peer, '') FROM replay_log ORDER BY decision_id`,
		[]string{
			"d1|1|same|0||v2|sha256:aa|b1|batch|token:ci|", "d2|2|other|5||v2|sha256:aa|b1|batch|token:ci|", "d3|3|other|-1||v2|sha256:aa|b1|batch|token:ci|",
			"d4|4|same|0||v1|sha256:aa|p1|single|token:sre|10.0.0.7", "d5|5|other|7|profile|v1||p2|single||",
		},
	}
	before := log
	before.want = slices.Concat(log.want[3:])
	compareRows(t, ask, []question{
		before,
		{`SELECT decision_id FROM never_replayed ORDER BY seq`, []string{"d1", "d2", "d3", "d5"}},
	})
	_, err := s.AdvanceReplay(t.Context(), part, &after, differ, long)
	wantErr(t, "AdvanceReplay", err, nil)
	kept := []question{
		log,
		{`SELECT decision_id, time, purpose, attempt FROM never_replayed`, []string{"d5|2026-03-01T00:00:12.123456Z|live|d5"}},
		{`SELECT id, state, overrides, total, identical, different, errors, semantics, through_seq, asked_by FROM replay_runs_log`, []string{"b1|done||3|1|1|1|v2|3|token:ci"}},
		{`SELECT count(*) FROM replay_runs_log WHERE seconds IS NULL OR ended_at IS NULL`, []string{"0"}},
	}
	compareRows(t, ask, kept)
	wantErr(t, "DeleteJob", s.DeleteJob(t.Context(), store.Replays, "b1"), nil)
	compareRows(t, ask, kept)
	batch(t, s, "b2", 1) // of a job that did not end: nothing is known to have been answered
	wantErr(t, "EndJob", s.EndJob(t.Context(), store.Replays, "b2", store.JobCancelled, ""), nil)
	wantErr(t, "DeleteJob", s.DeleteJob(t.Context(), store.Replays, "b2"), nil)
	compareRows(t, ask, []question{log, {`SELECT id, state, overrides, semantics FROM replay_runs_log ORDER BY id`, []string{"b1|done||v2", "b2|cancelled|profile config semantics|"}}})
	simulation(t, s, "s1")
	compareRows(t, ask, []question{{`SELECT id, coalesce(asked_by, 'NULL') FROM simulation_log`, []string{"s1|NULL"}}})
}

// retentionViews is the part of EvidenceViews that is about what is taken away.
func retentionViews(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	ctx := store.WithAsked(t.Context(), store.Asked{By: "token:sre"})
	began := time.Now().UTC().Format("2006-01-02T15:04:05")
	_, err := s.Retain(store.WithSetting(ctx, "--keep-decisions=1h"), at(12))
	wantErr(t, "Retain", err, nil)
	appendAll(t, s, change("prod", 2), change("prod", 3))
	wantErr(t, "DeleteCluster", s.DeleteCluster(ctx, "prod"), nil)
	compareRows(t, ask, []question{
		{`SELECT removed, to_seq, coalesce(setting, ''), coalesce(asked_by, '') FROM retention_log WHERE cluster = 'prod'`, []string{"cluster|5||token:sre"}},
		{`SELECT count(*) FROM retention_log WHERE time IS NULL OR time < '` + began + `' OR created_at IS NULL`, []string{"0"}},
		{`SELECT count(*) FROM replay_log`, []string{"0"}},
		{`SELECT count FROM denied_calls WHERE reason = 'forbidden'`, []string{"1"}}, // the newer one, which is of a caller
	})
	first := revision("test", 1)
	first.Revision.Objects, first.Revision.Changes = []store.RevisionObject{{Action: store.Applied, Kind: "Node", Name: "n1"}}, 1
	appendAll(t, s, first)
	for i := range 4 {
		d := decision("test", fmt.Sprintf("e%d", i+1), at(20+i))
		if i == 1 {
			d.CreatedAt = at(9000)
		}
		appendAll(t, s, &store.Entry{Decision: d})
	}
	wantErr(t, "PutReplay", s.PutReplay(t.Context(), replayed("p3", "e1", 1, true)), nil)
	_, err = s.Retain(store.WithSetting(ctx, "--keep-decisions=1h"), at(3600))
	wantErr(t, "Retain", err, nil)
	compareRows(t, ask, []question{
		{`SELECT removed, from_seq, to_seq, rows_removed, setting, coalesce(asked_by, '') FROM retention_log WHERE cluster = 'test' AND removed = 'decisions' ORDER BY from_seq`, []string{
			"decisions|1|1|1|--keep-decisions=1h|", "decisions|3|4|2|--keep-decisions=1h|",
		}},
		{`SELECT from_revision, to_revision, coalesce(rows_removed, -1) FROM retention_log WHERE cluster = 'test' AND removed = 'revision_objects'`, []string{"1|1|-1"}},
		{`SELECT count(*) FROM replay_log`, []string{"0"}},
		{`SELECT count FROM denied_calls WHERE reason = 'forbidden'`, []string{"1"}},
	})
}
