package storetest

import (
	"slices"
	"testing"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
)

// Columns compares store.DecisionColumns with a migrated schema, both ways. types names what the
// backend makes of each kind, and schema lists its columns as "table.name type", with " null"
// behind those that may be NULL.
func Columns(t *testing.T, types map[store.Kind]string, schema []string) {
	t.Helper()
	want := []string{"stamps.id " + types[store.Stamp], "stamps.plugins " + types[store.Text]}
	for _, c := range store.DecisionColumns {
		table, null := "decisions.", ""
		if c.Stamped {
			table = "stamps."
		}
		if c.Null {
			null = " null"
		}
		want = append(want, table+c.Name+" "+types[c.Kind]+null)
	}
	slices.Sort(want)
	slices.Sort(schema)
	if diff := cmp.Diff(want, schema); diff != "" {
		t.Errorf("store.DecisionColumns against the schema (-want +got):\n%s", diff)
	}
}
