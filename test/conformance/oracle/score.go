package oracle

import (
	"context"
	"fmt"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"
)

// score runs PreScore, then every score plugin by hand for its raw scores,
// then upstream's own RunScorePlugins for the normalised and weighted ones.
func (cl *cluster) score(ctx context.Context, state fwk.CycleState, v *Verdict, feasible []fwk.NodeInfo) error {
	if s := cl.framework.RunPreScorePlugins(ctx, state, cl.pod, feasible); !s.IsSuccess() {
		return fmt.Errorf("PreScore: %w", s.AsError())
	}
	table := &Scores{Nodes: map[string]ScoreRow{}}
	raw := map[string][]int64{}
	for _, p := range cl.framework.ListPlugins().Score.Enabled {
		if state.GetSkipScorePlugins().Has(p.Name) {
			continue
		}
		plugin, ok := cl.plugins[p.Name].(scorePlugin)
		if !ok {
			return fmt.Errorf("%s is no score plugin", p.Name)
		}
		table.Plugins = append(table.Plugins, p.Name)
		table.Weights = append(table.Weights, int64(p.Weight))
		for _, n := range feasible {
			score, err := scoreOf(ctx, plugin, state, cl.pod, n)
			if err != nil {
				return err
			}
			raw[n.Node().Name] = append(raw[n.Node().Name], score)
		}
	}
	results, s := cl.framework.RunScorePlugins(ctx, state, cl.pod, feasible)
	if !s.IsSuccess() {
		return fmt.Errorf("Score: %w", s.AsError())
	}
	var top int64
	for i, r := range results {
		row := ScoreRow{Raw: raw[r.Name], Total: r.TotalScore}
		for j, ps := range r.Scores {
			if ps.Name != table.Plugins[j] {
				return fmt.Errorf("score column %d is %s, not %s", j, ps.Name, table.Plugins[j])
			}
			row.Normalized = append(row.Normalized, ps.Score/table.Weights[j])
		}
		table.Nodes[r.Name] = row
		if i == 0 || r.TotalScore > top {
			top, v.Best = r.TotalScore, nil
		}
		if r.TotalScore == top {
			v.Best = append(v.Best, r.Name)
		}
	}
	slices.Sort(v.Best)
	v.Scores = table
	return nil
}
