package upgrade

import (
	"errors"
	"slices"
	"testing"

	"berth/internal/decision"
	"berth/internal/engine"
)

func scheduled(node string, best ...string) Reply {
	return Reply{Answer: &decision.Answer{Decision: engine.Decision{Outcome: engine.Scheduled, Node: node, Best: best}}}
}

func unschedulable(message string) Reply {
	return Reply{Answer: &decision.Answer{Decision: engine.Decision{Outcome: engine.UnschedulableOK, Message: message}}}
}

func preempting(node string, victims ...string) Reply {
	p := &engine.Preemption{Eligible: true, Node: node}
	for _, v := range victims {
		p.Victims = append(p.Victims, engine.Victim{Namespace: "d", Name: v})
	}
	return Reply{Answer: &decision.Answer{Decision: engine.Decision{Outcome: engine.Preempting, NominatedNode: node, Preemption: p}}}
}

func scored(node string, weighted int64) Reply {
	r := scheduled(node, node)
	r.Nodes = []engine.NodeVerdict{{Name: node, Feasible: true, Score: &weighted, Scores: []engine.PluginScore{{Plugin: "A", Weighted: weighted}}}}
	return r
}

func holding(node, device string) Reply {
	r := scheduled(node, node)
	r.Devices = []engine.AllottedDevice{{Claim: "c", Device: device}}
	return r
}

// TestCompare: the weightiest difference comes first, and chance among equally good nodes is none.
func TestCompare(t *testing.T) {
	failed := Reply{Err: errors.New("no")}
	for name, c := range map[string]struct {
		before, after Reply
		want          []Kind
	}{
		"same":                  {scheduled("a", "a"), scheduled("a", "a"), nil},
		"within a tie":          {scheduled("a", "a", "b"), scheduled("b", "a", "b"), nil},
		"out of the tie":        {scheduled("a", "a", "b"), scheduled("b", "b"), []Kind{OtherNode}},
		"another node":          {scheduled("a", "a"), scheduled("b", "b"), []Kind{OtherNode}},
		"no longer":             {scheduled("a", "a"), unschedulable("x"), []Kind{NoLongerFits}},
		"no preemption":         {preempting("a", "v"), unschedulable("x"), []Kind{NoLongerFits}},
		"now":                   {unschedulable("x"), scheduled("a", "a"), []Kind{FitsNow}},
		"by preemption now":     {unschedulable("x"), preempting("a", "v"), []Kind{FitsNow}},
		"without victims":       {preempting("a", "v"), scheduled("a", "a"), []Kind{OtherVictims}},
		"with victims":          {scheduled("a", "a"), preempting("a", "v"), []Kind{OtherVictims}},
		"other victims":         {preempting("a", "v", "w"), preempting("a", "v"), []Kind{OtherVictims}},
		"victims in any order":  {preempting("a", "v", "w"), preempting("a", "w", "v"), nil},
		"victims on other node": {preempting("a", "v"), preempting("b", "v"), []Kind{OtherVictims}},
		"words":                 {unschedulable("x"), unschedulable("y"), []Kind{OtherMessage}},
		"scores":                {scored("a", 3), scored("a", 4), []Kind{OtherScores}},
		"same scores":           {scored("a", 3), scored("a", 3), nil},
		"devices":               {holding("a", "d1"), holding("a", "d2"), []Kind{OtherDevices}},
		"same devices":          {holding("a", "d1"), holding("a", "d1"), nil},
		"an error":              {scheduled("a", "a"), failed, []Kind{Fails}},
		"no error any more":     {failed, scheduled("a", "a"), []Kind{Fails}},
		"the same error":        {failed, failed, nil},
		"another error":         {failed, Reply{Err: errors.New("never")}, []Kind{OtherMessage}},
	} {
		var got []Kind
		for _, ch := range Compare(c.before, c.after) {
			if got = append(got, ch.Kind); ch.Before == ch.After || ch.Before == "" || ch.After == "" {
				t.Errorf("%s: %+v", name, ch)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestSame: a plugin that gives nothing makes no other answer, and anything else does.
func TestSame(t *testing.T) {
	more := func(raw int64) Reply {
		r := scored("a", 3)
		r.Digest, r.Nodes[0].Scores = "another", append(r.Nodes[0].Scores, engine.PluginScore{Plugin: "B", Raw: raw})
		return r
	}
	failed := Reply{Err: errors.New("no")}
	for name, c := range map[string]struct {
		before, after Reply
		want          bool
	}{
		"nothing more":     {scored("a", 3), more(0), true},
		"something more":   {scored("a", 3), more(1), false},
		"another score":    {scored("a", 3), scored("a", 4), false},
		"another node":     {scheduled("a", "a"), scheduled("b", "b"), false},
		"other nodes fail": {scheduled("a", "a"), scored("a", 3), false},
		"an error":         {scheduled("a", "a"), failed, false},
		"the same error":   {failed, failed, true},
		"another one":      {failed, Reply{Err: errors.New("never")}, false},
	} {
		if got := Same(c.before, c.after); got != c.want || Same(c.after, c.before) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestTally: decisions are counted by kind and causes, the weightiest first.
func TestTally(t *testing.T) {
	var tally Tally
	pod := decision.PodRef{Namespace: "d", Name: "p"}
	for range 5 {
		tally.Add("", pod, []Change{{Kind: OtherMessage, Causes: []string{"X"}}})
	}
	tally.Add("", pod, []Change{{Kind: OtherMessage, Causes: []string{"X", "Y"}}, {Kind: FitsNow, Causes: []string{"Y"}}})
	got := tally.Groups()
	if len(got) != 3 || got[0].Kind != FitsNow || got[1].Decisions != 5 || len(got[1].Examples) != examples || len(got[2].Causes) != 2 {
		t.Errorf("%+v", got)
	}
}
