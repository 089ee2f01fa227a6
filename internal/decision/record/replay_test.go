package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

func TestReplayWithOverrides(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", ""), Bind: true})
	paths := func(o record.Overrides) map[string]bool {
		t.Helper()
		r, err := h.Replay(t.Context(), a.ID, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Identical != (len(r.Differences) == 0) {
			t.Fatalf("%+v", r)
		}
		out := map[string]bool{}
		for _, d := range r.Differences {
			out[d.Path] = true
		}
		return out
	}
	if got := paths(record.Overrides{Snapshot: "default@1", Profile: "default-scheduler"}); len(got) != 0 {
		t.Errorf("the same in other words: %v", got)
	}
	// The pod itself is bound in the newest revision, and taken out for a replay.
	if got := paths(record.Overrides{Snapshot: "default@latest"}); len(got) != 0 {
		t.Errorf("the revision that its bind made: %v", got)
	}
	if got := paths(record.Overrides{Profile: "packed"}); !got["node"] && !got["nodes[n3].score"] || !got["nodes[n3].scores[NodeResourcesFit].raw"] || !got["profile"] {
		t.Errorf("packed: %v", got)
	}
	if got := paths(record.Overrides{Pod: logtest.Pod(t, "w", `"nodeSelector":{"none":"such"},`)}); !got["outcome"] || !got["nodes[n1].feasible"] {
		t.Errorf("another pod: %v", got)
	}
	odd := logtest.Profile(t, func(s *rules.Spec) { s.SchedulerName = "odd"; s.Score = nil })
	if got := paths(record.Overrides{Profiles: []*engine.Profile{odd}}); !got["profile"] || !got["nodes[n2].score"] {
		t.Errorf("another configuration: %v", got)
	}
	logtest.Upload(t, h, append(logtest.Sample(t), logtest.Node(t, "n4", 16))...)
	if got := paths(record.Overrides{Snapshot: "default@latest"}); !got["nodes[n4]"] || !got["counts.nodes"] {
		t.Errorf("one node more: %v", got)
	}
	for _, o := range []record.Overrides{{Snapshot: "default"}, {Profile: "none"}, {Snapshot: "default@99"}} {
		if _, err := h.Replay(t.Context(), a.ID, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	if _, err := h.Replay(t.Context(), "nobody", record.Overrides{}); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// A replay asks all that was asked: with or without preemption, with suggestions.
func TestReplayAsksAllThatWasAsked(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", `"nodeSelector":{"none":"such"},`), Suggest: true, NoPreemption: true})
	if len(a.Suggestions) == 0 {
		t.Fatalf("%+v", a)
	}
	d, err := h.Store.Decision(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	kind, err := record.DecodeInput(d.Input)
	if in, ok := kind.(*record.Evaluated); !ok || !in.Suggest || !in.NoPreemption {
		t.Errorf("%+v %v", kind, err)
	}
	r, err := h.Replay(t.Context(), a.ID, record.Overrides{})
	if err != nil || !r.Identical || logtest.Text(t, r.Decision.Suggestions) != logtest.Text(t, a.Suggestions) {
		t.Errorf("%v %+v", err, r)
	}
	// Another cluster's state is a snapshot as good as any.
	v, _, err := h.Manager.Upload(t.Context(), "other", func(yield func(object.Object) error) (map[string]int, error) {
		return nil, yield(logtest.Object(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"fit","labels":{"none":"such"}},"status":{"allocatable":{"cpu":"9","memory":"64Gi","pods":"110"}}}`))
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err = h.Replay(t.Context(), a.ID, record.Overrides{Snapshot: v.ID()})
	if err != nil || r.Identical || r.Decision.Node != "fit" || r.Decision.Snapshot != "other@1" || len(r.Decision.Suggestions) != 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// copiesOf records a decision, and returns its answer and what stores a changed copy of the record.
func copiesOf(t *testing.T, h *logtest.Fixture) (a *decision.Answer, put func(id string, change func(*store.Decision))) {
	t.Helper()
	logtest.Upload(t, h, logtest.Sample(t)...)
	a = logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", "")})
	good, err := h.Store.Decision(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	return a, func(id string, change func(*store.Decision)) {
		t.Helper()
		d := *good
		d.ID = id
		change(&d)
		e := &store.Entry{Decision: &d}
		if err := h.Store.Append(t.Context(), []*store.Entry{e}); err != nil || e.Err != nil {
			t.Fatal(id, err, e.Err)
		}
	}
}

// TestDamagedProfile is refused, not used: a replay under it would blame the engine.
func TestDamagedProfile(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	a, _ := copiesOf(t, h)
	good, err := h.Store.Decision(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.Store.Profile(t.Context(), good.ProfileDigest)
	if err != nil {
		t.Fatal(err)
	}
	d := *good
	d.ID, d.ProfileDigest = "d", "sha256:"+strings.Repeat("7", 64)
	e := &store.Entry{Decision: &d, Profile: &store.Profile{Digest: d.ProfileDigest, Name: p.Name, Payload: p.Payload}}
	if err := h.Store.Append(t.Context(), []*store.Entry{e}); err != nil || e.Err != nil {
		t.Fatal(err, e.Err)
	}
	for _, r := range []func() error{
		func() error { _, err := h.Get(t.Context(), d.ID); return err },
		func() error { _, err := h.Replay(t.Context(), d.ID, record.Overrides{}); return err },
	} {
		if err := r(); !errors.Is(err, revision.ErrCorrupt) || !strings.Contains(err.Error(), "profile "+d.ProfileDigest) {
			t.Error(err)
		}
	}
}

// TestStrangeRecords has records that no version wrote, or another one did.
func TestStrangeRecords(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	a, put := copiesOf(t, h)
	for i, in := range []string{"", "{", "[]", "\x28\xb5\x2f\xfdjunk", `{"v":1,"pod":7}`, `{"v":1}`, `{"v":1,"nodes":[7]}`, `{"v":1,"pod":{"metadata":{"name":"w","namespace":"d"}},"only":{"bits":"AAAAAAAA"}}`, `{"v":9}`} {
		id := fmt.Sprintf("damaged-%d", i)
		put(id, func(d *store.Decision) { d.Input = []byte(in) })
		_, gerr := h.Get(t.Context(), id)
		_, rerr := h.Replay(t.Context(), id, record.Overrides{})
		for _, err := range []error{gerr, rerr} {
			if err == nil || !bytes.Contains([]byte(err.Error()), []byte(id)) {
				t.Errorf("%q: %v", in, err)
			}
		}
	}
	put("older-answer", func(d *store.Decision) { d.AnswerDigest, d.Node = "sha256:00", "n1" })
	r, err := h.Replay(t.Context(), "older-answer", record.Overrides{})
	if err != nil || r.Identical || len(r.Differences) == 0 || r.Note == "" {
		t.Fatalf("%+v %v", r, err)
	}
	for id, change := range map[string]func(*store.Decision){
		"engine":    func(d *store.Decision) { d.Engine = "v9.0.0" },
		"semantics": func(d *store.Decision) { d.Semantics = "v1.99.0" },
	} {
		put(id, change)
		got, err := h.Get(t.Context(), id)
		if err != nil || got.Note == "" || got.DigestAgrees || got.Node != a.Node {
			t.Errorf("%s: %+v %v", id, got, err)
		}
		if r, err := h.Replay(t.Context(), id, record.Overrides{}); err != nil || r.Note == "" || !r.Identical {
			t.Errorf("%s: %+v %v", id, r, err)
		}
	}
}

// TestRecordsHaveTheDigestOfTheirTime has one answer as engines of both forms of digests recorded
// it: each record agrees with its own form alone.
func TestRecordsHaveTheDigestOfTheirTime(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	a, put := copiesOf(t, h)
	const second = "sha256:bf14158cc474064f88ef268e49d2d01fd5e5d648be9c6a6426b9433974180d32" // of engine v0.2.1
	for _, version := range []string{"v0.2.0", "v0.2.1", engine.Version} {
		for _, digest := range []string{second, a.Digest} {
			id := version + digest
			put(id, func(d *store.Decision) { d.Engine, d.AnswerDigest = version, digest })
			agrees := (version == engine.Version) == (digest == a.Digest)
			got, err := h.Get(t.Context(), id)
			if err != nil || got.DigestAgrees != agrees || (got.Note == "") != agrees || (got.Digest == digest) != agrees {
				t.Errorf("%s: %+v %v", id, got, err)
			}
			for _, o := range []record.Overrides{{}, {Snapshot: a.Snapshot}} { // under which columns alone are compared
				if r, err := h.Replay(t.Context(), id, o); err != nil || r.Identical != (agrees || o.Snapshot != "") || (r.Note == "") != agrees {
					t.Errorf("%s, %+v: %+v %v", id, o, r, err)
				}
			}
		}
	}
}

func TestDecidedOnIsKept(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", "")})
	logtest.Upload(t, h, logtest.Node(t, "n1", 4))
	logtest.Upload(t, h, logtest.Node(t, "n2", 4))
	if err := h.Manager.Delete(t.Context(), "default", 1); !errors.Is(err, store.ErrInUse) {
		t.Fatalf("a revision that a decision refers to: %v", err)
	}
	if err := h.Manager.Delete(t.Context(), "default", 2); err != nil {
		t.Fatal(err)
	}
}

// FuzzInput reads any bytes as a record's input: an error, or an input that
// reads the same when written again.
func FuzzInput(f *testing.F) {
	for _, in := range []string{"", "{}", `{"v":1}`, `{"v":1,"only":{"bits":"AAE="}}`, `{"v":1,"pod":{"kind":"Pod"},"nodes":[{}],"bind":"n1"}`, "\x28\xb5\x2f\xfd"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		in, err := record.DecodeInput(payload)
		if err != nil {
			return
		}
		again, err := record.Encode(in)
		if err != nil {
			t.Fatal(err)
		}
		back, err := record.DecodeInput(again)
		if err != nil || logtest.Text(t, back) != logtest.Text(t, in) {
			t.Fatalf("%v: %s, not %s", err, logtest.Text(t, back), logtest.Text(t, in))
		}
	})
}
