package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"berth/internal/decision/record"
	"berth/internal/handlers/rest"
	"berth/internal/report"
	"berth/internal/words"
)

// replayView is a recorded decision beside the answer to the same question now: under another
// revision or configuration, or as recorded.
type replayView struct {
	Recorded record.Recorded
	Replay   record.Replay
	Verdict  *verdictView
	// Before and After are the two answers, in short.
	Before, After outcomeWords
	Rows          []differenceRow
	Hidden        int
}

type outcomeWords struct{ Title, Outcome, Node, Message, Engine, Snapshot string }

// differenceRow is one value that differs.
type differenceRow struct{ Path, Before, After string }

// shownDifferences is how many differences a page lists unless the URL wants all.
const shownDifferences = 60

func loadReplay(v *visit) (string, any, error) {
	view := &replayView{}
	if err := v.get(decisionData(v), &view.Recorded); err != nil {
		return "", nil, err
	}
	v.cluster = view.Recorded.Cluster
	ask := rest.ReplayRequest{Snapshot: v.query.Get("with")}
	if config := v.query.Get("config"); strings.TrimSpace(config) != "" {
		text, err := json.Marshal(config)
		if err != nil {
			return "", nil, fmt.Errorf("write the question: %w", err)
		}
		ask.Config = text
	}
	if err := v.post(decisionData(v)+"/replay", ask, &view.Replay); err != nil {
		return "Replay", view, err
	}
	r, now := &view.Recorded, view.Replay.Decision
	view.Before = outcomeWords{"As recorded", string(r.Outcome), r.Node + r.NominatedNode, r.Message, r.Engine, r.Snapshot}
	view.After = outcomeWords{"Now", string(now.Outcome), now.Node + now.NominatedNode, now.Message, now.Engine, now.Snapshot}
	view.Verdict = verdictOf(now)
	view.Rows = differenceRows(view.Replay.Differences)
	if n := len(view.Rows); n > shownDifferences && v.query.Get("all") == "" {
		view.Rows, view.Hidden = view.Rows[:shownDifferences], n-shownDifferences
	}
	return "Replay of " + shortID(r.ID), view, nil
}

func differenceRows(list []record.Difference) []differenceRow {
	out := make([]differenceRow, 0, len(list))
	for _, d := range list {
		out = append(out, differenceRow{d.Path, valueText(d.Recorded), valueText(d.Replayed)})
	}
	return out
}

// maxValue is how much of a value a table shows, in characters.
const maxValue = 200

// valueText writes a JSON value on one line.
func valueText(value any) string {
	if value == nil {
		return "–"
	}
	text, plain := value.(string)
	if !plain {
		js, err := json.Marshal(value)
		if err != nil {
			return fmt.Sprint(value)
		}
		text = string(js)
	}
	if r := []rune(text); len(r) > maxValue {
		return fmt.Sprintf("%s… (%s more)", string(r[:maxValue]), words.Plural(len(r)-maxValue, "character"))
	}
	return text
}

// compareView is what differs between two revisions.
type compareView struct {
	A, B string
	Diff *report.Diff
	Rows []objectRow
}

// objectRow is an object that differs, with its fields.
type objectRow struct {
	report.ObjectDiff
	Fields []differenceRow
}

func compareData(v *visit) string {
	return "/v1/snapshots/" + url.PathEscape(v.query.Get("a")) + "/diff?" + url.Values{"to": {v.query.Get("b")}, "limit": {"200"}}.Encode()
}

func loadCompare(v *visit) (string, any, error) {
	view := &compareView{A: v.query.Get("a"), B: v.query.Get("b")}
	if view.A == "" || view.B == "" {
		return "Compare", view, nil
	}
	diff := &report.Diff{}
	if err := v.get(compareData(v), diff); err != nil {
		return "Compare", view, err
	}
	view.Diff = diff
	for _, o := range view.Diff.Objects {
		row := objectRow{ObjectDiff: o}
		for _, f := range o.Fields {
			row.Fields = append(row.Fields, differenceRow{f.Path, valueText(f.From), valueText(f.To)})
		}
		view.Rows = append(view.Rows, row)
	}
	return view.A + " and " + view.B, view, nil
}
