package extender

import (
	"testing"

	"berth/internal/handlers/extender/wire"
)

func TestPooledCallKeepsNothing(t *testing.T) {
	c := &call{id: "x", table: nameTable{names: wire.NewNames([]string{"n1"})}}
	parser := wire.Parser{Limits: wire.Limits{Bytes: 1 << 10, Depth: 10, Tokens: 100, Names: 10}, Names: c.table.names}
	if err := parser.FilterArgs([]byte(`{"Pod":{"status":{"message":"s3cret"}},"NodeNames":["n1","zz"]}`), &c.args); err != nil {
		t.Fatal(err)
	}
	if c.args.Pod == nil || len(c.args.Unknown) != 1 {
		t.Fatalf("%+v", c.args)
	}
	c.done()
	if c.args.Pod != nil || c.table.names != nil || c.id != "" {
		t.Error("a call's memory is handed on with its content")
	}
	for _, u := range c.args.Unknown[:cap(c.args.Unknown)] {
		if u != nil {
			t.Error("a name of another call")
		}
	}
	if wire.MaxPooledBuffer < 1<<20 {
		t.Error("a call of 15,000 names is not pooled")
	}
}
