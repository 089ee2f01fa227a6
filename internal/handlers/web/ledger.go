package web

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"berth/internal/engine"
	"berth/internal/words"
)

// ledger is one spread constraint and its domains.
type ledger struct {
	engine.SpreadConstraint
	Hard bool
	// Limit is the most pods that a domain may have with this one; absent for a soft constraint.
	Limit *int
	Rows  []ledgerRow
}

// ledgerRow is a domain, or several that are alike.
type ledgerRow struct {
	engine.SpreadDomain
	Label   string
	Allowed bool
	Bar     template.HTML
	// Merged is how many domains the row stands for.
	Merged int
}

// foldedDomains is how many domains are listed one by one; more are counted by what is the same
// about them.
const foldedDomains = 16

func ledgerOf(c *engine.SpreadConstraint) ledger {
	out := ledger{SpreadConstraint: *c, Hard: c.WhenUnsatisfiable == "DoNotSchedule"}
	if c.GlobalMinimum != nil {
		limit := *c.GlobalMinimum + int(c.MaxSkew)
		out.Limit = &limit
	}
	most := 1
	for i := range c.Domains {
		most = max(most, c.Domains[i].Matching+1)
	}
	if out.Limit != nil {
		most = max(most, *out.Limit)
	}
	for i := range c.Domains {
		d := &c.Domains[i]
		row := ledgerRow{SpreadDomain: *d, Label: d.Value, Merged: 1}
		row.Allowed = d.Eligible && (!out.Hard || d.SkewIfPlaced <= int(c.MaxSkew))
		out.Rows = append(out.Rows, row)
	}
	if len(out.Rows) > foldedDomains {
		out.Rows = fold(out.Rows)
	}
	for i := range out.Rows {
		r := &out.Rows[i]
		r.Bar = ledgerBar(r.Matching, most, out.Limit, r.Allowed, r.Eligible)
	}
	return out
}

// fold counts domains with the same number of pods and the same verdict.
func fold(rows []ledgerRow) []ledgerRow {
	type key struct {
		matching          int
		eligible, allowed bool
		why               string
	}
	at := map[key]int{}
	var out []ledgerRow
	for i := range rows {
		r := &rows[i]
		k := key{r.Matching, r.Eligible, r.Allowed, r.Why}
		n, known := at[k]
		if !known {
			at[k] = len(out)
			out = append(out, *r)
			continue
		}
		out[n].Merged++
		out[n].Nodes += r.Nodes
		out[n].Label = fmt.Sprintf("%s like %s", words.Plural(out[n].Merged, "domain"), out[n].Value)
	}
	slices.SortStableFunc(out, func(a, b ledgerRow) int { return cmp.Compare(a.Matching, b.Matching) })
	return out
}
