package report_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/kube/object"
	"berth/internal/semantics"
	"berth/test/differences"
)

// rowsOf are the rows of a table of docs/releases.md.
func rowsOf(t *testing.T, heading string) (rows []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/releases.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), heading+"\n")
	if !ok {
		t.Fatalf("docs/releases.md has no %q", heading)
	}
	table, _, _ = strings.Cut(table, "\n## ")
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z])(\d+)(?:–[A-Z](\d+))? \|`).FindAllStringSubmatch(table, -1) {
		var first, last int
		fmt.Sscan(m[2], &first)
		if last = first; m[3] != "" {
			fmt.Sscan(m[3], &last)
		}
		for n := first; n <= last; n++ {
			rows = append(rows, m[1]+fmt.Sprint(n))
		}
	}
	return rows
}

// cluster is what scenes have, in JSON.
func cluster(t *testing.T, scenes []differences.Scene) (items []string) {
	t.Helper()
	objects := differences.Surroundings()
	for _, s := range scenes {
		objects = append(objects, s.Objects...)
	}
	for _, o := range objects {
		js, err := object.Encode(o)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(js))
	}
	return items
}

// TestUpgradeNamesEachRow: each difference of a table that a decision can show is in the report
// once, for the pod that shows it, with the row, its upstream change, and nothing else.
func TestUpgradeNamesEachRow(t *testing.T) {
	for _, b := range differences.Pairs {
		t.Run(b.To, func(t *testing.T) {
			nodes := strings.Count(strings.Join(cluster(t, b.Scenes(1)), ""), `"kind":"Node"`)
			scenes := b.Scenes(nodes)
			out := upgraded(t, view(t, cluster(t, scenes)...), b.From, b.To, 1000)
			got := map[string]string{} // with the answers, by pod, kind and causes
			for _, d := range out.Decisions {
				for _, c := range d.Changes {
					got[fmt.Sprintln(d.Pod.Name, c.Kind, c.Causes)] = c.Before + "; then " + c.After
				}
			}
			seen, groups := map[string]bool{}, map[string]int{}
			for _, s := range scenes {
				row := s.Row()
				seen[row] = true
				groups[fmt.Sprintln(s.Kind, s.Causes)]++
				key := fmt.Sprintln(s.Pod, s.Kind, s.Causes)
				if got[key] == "" {
					t.Errorf("%s is not in the report: %s", s.Name, key)
				}
				delete(got, key)
				for _, name := range s.Causes {
					i := slices.IndexFunc(out.Behaviours, func(b *semantics.Behaviour) bool { return b.Name == name })
					if i < 0 || !slices.Contains(strings.Split(out.Behaviours[i].Row, ", "), row) || out.Behaviours[i].Where == "" {
						t.Errorf("%s: %s is not told as %s", s.Name, name, row)
					}
				}
			}
			for key, answers := range got {
				t.Errorf("no row is %s%s", key, answers)
			}
			for _, g := range out.Groups {
				if key := fmt.Sprintln(g.Kind, g.Causes); g.Decisions != groups[key] || groups[key] != 1 {
					t.Errorf("%d times %s, want %d", g.Decisions, key, groups[key])
				}
			}
			objects := map[string]int{}
			for _, f := range out.Objects {
				i := slices.IndexFunc(out.Behaviours, func(b *semantics.Behaviour) bool { return b.Name == f.Behaviour })
				objects[out.Behaviours[i].Row] += f.Objects
			}
			if diff := cmp.Diff(b.Objects, objects); diff != "" {
				t.Errorf("objects worth a look (-want +got):\n%s", diff)
			}
			for _, row := range rowsOf(t, b.Heading) {
				if seen[row] == (b.Unseen[row] != "") {
					t.Errorf("row %s: in the cluster %v, and not to be seen because %q", row, seen[row], b.Unseen[row])
				}
			}
		})
	}
}
