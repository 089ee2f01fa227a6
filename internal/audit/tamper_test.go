package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"berth/internal/audit"
	"berth/internal/store"
)

// insert is a row of decisions like that of d011, under another id and place.
const insert = `INSERT INTO decisions (cluster, id, created_at, decided_as_of, revision, bound_revision, verb, outcome, namespace, pod, pod_uid, node,
nominated_node, priority, nodes_total, nodes_feasible, message, stamp, snapshot_digest, pod_digest, answer_digest, duration_micros, seq, mode)
SELECT %s, 'forged', created_at, decided_as_of, revision, bound_revision, verb, outcome, namespace, pod, pod_uid, node,
nominated_node, priority, nodes_total, nodes_feasible, message, stamp, snapshot_digest, pod_digest, answer_digest, duration_micros, %d, mode
FROM decisions WHERE id = 'd011'`

// TestTampering: each change of the database behind berth's back is found, and named.
func TestTampering(t *testing.T) {
	for name, c := range map[string]struct {
		queries []string
		want    []string // table, what, place and id of each finding
		cluster string
	}{
		"outcome":   {[]string{`UPDATE decisions SET outcome = 'Unschedulable' WHERE id = 'd005'`}, []string{"decisions changed 5 d005"}, ""},
		"node":      {[]string{`UPDATE decisions SET node = 'node-2' WHERE id = 'd005'`}, []string{"decisions changed 5 d005"}, ""},
		"namespace": {[]string{`UPDATE decisions SET namespace = 'evil' WHERE id = 'd005'`}, []string{"decisions changed 5 d005"}, ""},
		"failures":  {[]string{`UPDATE decisions SET failures = NULL WHERE id = 'd005'`}, []string{"decisions changed 5 d005"}, ""},
		"scores":    {[]string{`UPDATE decisions SET scores = NULL WHERE id = 'd005'`}, []string{"decisions changed 5 d005"}, ""},
		"time":      {[]string{`UPDATE decisions SET created_at = 1 WHERE id = 'd005'`}, []string{"decisions changed 5 d005"}, ""},
		"input":     {[]string{`UPDATE decisions SET input = x'00' WHERE id = 'd005'`}, []string{"decisions changed 5 d005"}, ""},
		"stamp": {
			[]string{`UPDATE stamps SET engine = 'v9.9.9'`},
			func() (all []string) {
				for n := range 20 {
					all = append(all, fmt.Sprintf("decisions changed %d d%03d", n+1, n+1))
				}
				return all
			}(), "",
		},
		"row deleted":     {[]string{`DELETE FROM decisions WHERE id = 'd005'`}, []string{"decisions missing 5 "}, ""},
		"rows swapped":    {[]string{`UPDATE decisions SET seq = 99 WHERE id = 'd005'`, `UPDATE decisions SET seq = 5 WHERE id = 'd006'`, `UPDATE decisions SET seq = 6 WHERE id = 'd005'`}, []string{"decisions moved 5 d006", "decisions moved 6 d005"}, ""},
		"row inserted":    {[]string{fmt.Sprintf(insert, "cluster", 21)}, []string{"decisions inserted 21 forged"}, ""},
		"row in 0":        {[]string{fmt.Sprintf(insert, "cluster", 0)}, []string{"decisions inserted 0 forged"}, ""},
		"other cluster":   {[]string{fmt.Sprintf(insert, "'ghost'", 1)}, []string{"decisions inserted 1 forged"}, "ghost"},
		"row replaced":    {[]string{`DELETE FROM decisions WHERE id = 'd005'`, fmt.Sprintf(insert, "cluster", 5)}, []string{"decisions changed 5 forged"}, ""},
		"tail truncated":  {[]string{`DELETE FROM decisions WHERE seq > 10`, `DELETE FROM seals WHERE number = 3`}, []string{"seals missing 3 "}, ""},
		"rows at the end": {[]string{`DELETE FROM decisions WHERE seq > 18`}, []string{"decisions missing 19 ", "decisions missing 20 "}, ""},
		"seal changed":    {[]string{`UPDATE seals SET row_hashes = x'00' WHERE number = 2`}, []string{"seals changed 2 "}, ""},
		"seal rehashed": {
			[]string{`UPDATE seals SET hash = x'00' WHERE number = 2`},
			[]string{"seals changed 2 ", "seals changed 2 "},
			"",
		},
		"seal deleted":       {[]string{`DELETE FROM seals WHERE number = 2`}, []string{"seals missing 2 "}, ""},
		"first seal deleted": {[]string{`DELETE FROM seals WHERE number = 1`}, []string{"seals missing 1 "}, ""},
		"all seals deleted":  {[]string{`DELETE FROM seals`}, []string{"seals missing 1 "}, ""},
		"revision":           {[]string{`UPDATE revisions SET digest = 'sha256:0' WHERE number = 2`}, []string{"revisions changed 2 "}, ""},
		"revision deleted":   {[]string{`DELETE FROM checkpoints WHERE number = 1`, `DELETE FROM revisions WHERE number = 1`}, []string{"checkpoints missing 1 ", "revisions missing 1 "}, ""},
		"checkpoint":         {[]string{`UPDATE checkpoints SET payload = x'00' WHERE number = 2`}, []string{"checkpoints changed 2 "}, ""},
		"gap":                {[]string{`UPDATE decision_gaps SET lost = 1`}, []string{"decision_gaps changed 0 g1"}, ""},
		"gap deleted":        {[]string{`DELETE FROM decision_gaps`}, []string{"decision_gaps missing 0 g1"}, ""},
		"books deleted":      {[]string{`DELETE FROM clusters`}, []string{"clusters missing 0 "}, ""},
		"books put back":     {[]string{`UPDATE clusters SET seals = 2, seal_hash = (SELECT hash FROM seals WHERE number = 2)`}, []string{"clusters changed 2 "}, ""},
		"newest put back":    {[]string{`UPDATE clusters SET newest = 1, token = (SELECT token FROM revisions WHERE number = 1)`}, []string{"clusters changed 1 "}, ""},
		"token":              {[]string{`UPDATE clusters SET token = 'forged'`}, []string{"clusters changed 2 "}, ""},
		"last place":         {[]string{`UPDATE clusters SET last_seq = 19`}, []string{"clusters changed 19 "}, ""},
		"last place ahead":   {[]string{`UPDATE clusters SET last_seq = 21`}, []string{"clusters changed 21 "}, ""},
		"count of decisions": {[]string{`UPDATE clusters SET decisions = 19`}, []string{"clusters changed 19 "}, ""},
		"count of revisions": {[]string{`UPDATE clusters SET revisions = 3`}, []string{"clusters changed 3 "}, ""},
		"a removal forged": {
			[]string{`DELETE FROM decisions WHERE id = 'd005'`, `UPDATE seals SET items = '{"removed":{"decisions":[[5,5]]}}', kind = 'removal' WHERE number = 3`},
			[]string{"seals changed 3 "},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, f *fixture) {
				f.fill()
				f.exec(c.queries...)
				cluster := c.cluster
				if cluster == "" {
					cluster = "prod"
				}
				heads, err := f.SealHeads(t.Context(), "")
				if err != nil || !slices.ContainsFunc(heads, func(h store.SealHead) bool { return h.Cluster == cluster }) {
					t.Fatalf("heads %v, %v", heads, err)
				}
				r, err := audit.Verify(t.Context(), f, cluster, audit.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, x := range r.Findings {
					got = append(got, fmt.Sprintf("%s %s %d %s", x.Table, x.What, x.From, x.ID))
					if x.Cluster != cluster || x.ID == "" && !strings.Contains(x.Detail, fmt.Sprint(x.To)) {
						t.Errorf("not named: %+v", x)
					}
				}
				slices.Sort(got)
				slices.Sort(c.want)
				if !slices.Equal(got, c.want) {
					t.Errorf("found %q, want %q", got, c.want)
				}
			})
		})
	}
}
