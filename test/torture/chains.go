//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// chains has the hash chains of the log checked, beside the servers where they run.
func (r *report) chains(ctx context.Context, p *place, when string) (decisions int64) {
	began := time.Now()
	cmd := exec.CommandContext(ctx, p.program, "audit", "verify", "-o", "json", "--database-url", p.pg.url())
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return 0
	}
	var list []struct {
		Findings []struct{ Cluster, Detail string }
		Rows     map[string]int64
	}
	if bad := json.Unmarshal(out, &list); bad != nil {
		r.violate("harness", "verify the hash chains %s: %v, %v", when, err, bad)
		return 0
	}
	for _, c := range list {
		decisions += c.Rows["decisions"]
		for _, f := range c.Findings {
			r.violate("hash chain", "%s: cluster %s: %s", when, f.Cluster, f.Detail)
		}
	}
	r.checked, r.checking = time.Now(), time.Since(began)
	fmt.Printf("        hash chains checked: %d decisions in %s\n", decisions, r.checking.Round(time.Millisecond))
	return decisions
}
