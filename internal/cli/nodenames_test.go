package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestNodesAsTablesShowThem: a name without the end that all nodes share is that node, in each
// command that takes one, and of a misspelt one the error names the node that was meant.
func TestNodesAsTablesShowThem(t *testing.T) {
	f := newForty()
	dump := f.write(t, filepath.Join(t.TempDir(), "c.json"))
	c := call{env: map[string]string{"BERTH_SNAPSHOT": dump}}
	node := f.nodes[2]
	short := strings.TrimSuffix(node, fortySuffix)
	wrong := strings.Replace(short, "ip", "iq", 1)
	for _, args := range [][]string{
		{"explain", "data/kafka-2", "--node"},
		{"blame", "data/kafka-2", "--between", dump, dump, "--node"},
		{"drain", "--force"},
		{"lose"},
		{"evictions"},
		{"pressure", "--signal", "memory.available=80Mi,capacity=8Gi"},
		{"fit", "data/kafka-2", "--add", "1", "--like"},
		{"pools", "--like"},
	} {
		whole, cut := c.run(t, append(args, node)...), c.run(t, append(args, short)...)
		if whole.out == "" || whole.out != cut.out || whole.code != cut.code {
			t.Errorf("%s %s is not as with the whole name:\n%s%s\n%s%s", args, short, cut.out, cut.err, whole.out, whole.err)
		}
		r := c.run(t, append(args, wrong)...)
		if r.code != 1 || !strings.Contains(r.err, "there is no node "+wrong) || !strings.Contains(strings.Join(strings.Fields(r.err), " "), "Did you mean "+node+"?") {
			t.Errorf("%s %s: %s%s", args, wrong, r.out, r.err)
		}
	}
}
