package wire

import (
	"context"
	"errors"
	"strings"
	"testing"

	"berth/internal/steps"
)

// TestNodesEndWithTheContext shows that the scan of whole nodes ends soon after its context.
func TestNodesEndWithTheContext(t *testing.T) {
	const node = `{"metadata":{"name":"n"}}`
	body := []byte(`{"Pod":{},"Nodes":{"items":[` + strings.Repeat(node+",", 999) + node + `]}}`)
	ctx, cancel := context.WithCancel(t.Context())
	p := Parser{Steps: steps.Of(ctx)}
	var args FilterArgs
	if err := p.FilterArgs(body, &args); err != nil || len(args.Nodes) != 1000 {
		t.Fatalf("%d nodes, %v", len(args.Nodes), err)
	}
	cancel()
	p.Steps = steps.Of(ctx)
	if err := p.FilterArgs(body, &args); !errors.Is(err, context.Canceled) || len(args.Nodes) > 16 {
		t.Errorf("%d nodes, %v", len(args.Nodes), err)
	}
}
