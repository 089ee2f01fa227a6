package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// ruleCase asks about one pod. want says, by node, "ok" or the reasons of the
// first failing plugin, marked with "!" where preemption could not help. scores,
// where given, are "raw/normalised" by node of the plugin under test.
type ruleCase struct {
	name    string
	objects []any
	pod     *corev1.Pod
	spec    *rules.Spec
	want    map[string]string
	message string
	scores  map[string]string
	under   func(*semantics.Release) // changes the default release
}

func check(t *testing.T, plugin string, cases []ruleCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d := decide(t, tc)
			got, scores := map[string]string{}, map[string]string{}
			for _, n := range d.Nodes {
				got[n.Name] = "ok"
				if !n.Feasible {
					got[n.Name] = strings.Join(n.Reasons, ", ")
					if n.Code == "UnschedulableAndUnresolvable" {
						got[n.Name] += "!"
					}
				}
				for _, s := range n.Scores {
					if s.Plugin == plugin {
						scores[n.Name] = fmt.Sprintf("%d/%d", s.Raw, s.Normalized)
					}
				}
			}
			if tc.want != nil {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("verdicts (-want +got):\n%s", diff)
				}
			}
			if tc.scores != nil {
				if diff := cmp.Diff(tc.scores, scores); diff != "" {
					t.Errorf("scores of %s (-want +got):\n%s", plugin, diff)
				}
			}
			if tc.message != "" && tc.message != d.Message {
				t.Errorf("message %q, want %q", d.Message, tc.message)
			}
		})
	}
}

func decide(t *testing.T, tc ruleCase) *engine.Decision {
	t.Helper()
	spec := rules.DefaultSpec()
	var under *semantics.Release
	if tc.under != nil {
		under = releaseWith(tc.under)
		spec = rules.SpecOf(under)
	}
	if tc.spec != nil {
		spec = *tc.spec
	}
	c := et.Case{Objects: tc.objects, Pod: tc.pod, Spec: spec, Under: under, Options: engine.Options{ScoreAlways: true, NoPreemption: true}}
	d, err := c.Decide()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// unnamed returns details without the objects that they name.
func unnamed(list []engine.Detail) []engine.Detail {
	out := slices.Clone(list)
	for i := range out {
		out[i].Blockers, out[i].BlockersOmitted = nil, 0
	}
	return out
}

// details returns the details of one node, without the objects that they name.
func details(t *testing.T, d *engine.Decision, node string) []engine.Detail {
	t.Helper()
	for _, n := range d.Nodes {
		if n.Name == node {
			return unnamed(n.Details)
		}
	}
	t.Fatalf("no verdict on %s", node)
	return nil
}

// releaseWith is the default release with some behaviours of another.
func releaseWith(change func(*semantics.Release)) *semantics.Release {
	r := *semantics.Default()
	change(&r)
	return &r
}

func list(objects ...any) []any { return objects }

func ptr[T any](v T) *T { return &v }
