package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/scenario"
)

func (a *app) capacityCommand() *cobra.Command {
	var by, pool string
	cmd := &cobra.Command{
		Use:   "capacity",
		Short: "How full is the cluster, and what of the rest can its pods use?",
		Long: `What pods request of what nodes have, for each resource; what is free, what of
it no common pod can use, and how many more pods of the cluster's own sizes
there is room for. By resources alone: "fit" counts with all rules.`,
		Example: "  " + a.name + " capacity --by zone --snapshot cluster.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if by != "" && by != "zone" && by != "pool" {
				return fmt.Errorf("--by %s: want zone or pool", by)
			}
			query := url.Values{}
			if pool != "" {
				query.Set("pool", pool)
			}
			c, raw, gaps, err := answered[scenario.Capacity](cmd.Context(), a, func(s *source) (json.RawMessage, error) { return s.ofCluster(cmd.Context(), query, "capacity") })
			if err != nil {
				return err
			}
			return a.show(raw, gaps.about("Node", "Pod"), c, func(p *page) { p.capacity(c, by) })
		},
	}
	cmd.Flags().StringVar(&by, "by", "", "each resource by zone or pool as well")
	cmd.Flags().StringVar(&pool, "pool", "", "label of nodes that pools are told by")
	return cmd
}

func (p *page) capacity(c *scenario.Capacity, by string) {
	n := c.Nodes
	about := "of " + plural(n.Total, "node")
	if n.Cordoned > 0 {
		about += ", " + count(n.Cordoned) + " cordoned"
	}
	if n.NotReady > 0 {
		about += ", " + count(n.NotReady) + " NotReady"
	}
	p.head(count(n.InUse)+" IN USE", green, about, "", "")
	p.text(fmt.Sprintf("By each resource alone %s would do: %s at most could be emptied (%s %%).", plural(n.Bound, "node"), count(n.CouldBeEmpty), percentage(n.GapPercent)))
	p.gap()
	t := newTable(".RESOURCE", ">HAS", ">USED", ">SD", ">P10", ">P90", ">FREE", ">STRANDED", ">UNUSABLE")
	for i := range c.Resources {
		r := &c.Resources[i]
		if r.Allocatable == 0 && r.Requested == 0 {
			continue
		}
		unusable := "-"
		if r.Fragmentation != nil {
			unusable = percentage(*r.Fragmentation) + "%"
		}
		t.add(r.Resource, amount(r.Resource, r.Allocatable), share(r.Requested, r.Allocatable), percentage(r.Nodes.SD)+"%", percentage(r.Nodes.P10)+"%", percentage(r.Nodes.P90)+"%",
			amount(r.Resource, r.Free), amount(r.Resource, r.Stranded), unusable)
	}
	p.table(t)
	if by != "" {
		p.groups(c, by)
	}
	if len(c.Shapes) > 0 {
		t := newTable(".PODS LIKE", "~REQUESTS", ">PODS", ">ROOM FOR", ">ON NODES", ">LARGEST")
		for i := range c.Shapes {
			s := &c.Shapes[i]
			largest := "-"
			if s.Largest != nil {
				largest = percentage(*s.Largest) + "x"
			}
			t.add(s.Example, requestWords(s.Requests), count(s.Pods), count(int(s.Room)), count(s.Nodes), largest)
		}
		p.gap()
		p.text("By resources alone, without taints, affinity and the other rules (fit counts with all)" + unusableWords(&c.Nodes) + ":")
		p.first(t, "sizes")
		if c.OtherPods > 0 {
			p.line("%s of other sizes", plural(c.OtherPods, "pod"))
		}
	}
}

// unusableWords returns that nodes do not count as room, where some do not.
func unusableWords(n *scenario.CapacityNodes) string {
	if n.Cordoned+n.NotReady == 0 {
		return ""
	}
	return ", and none on nodes that are cordoned or NotReady"
}

// groups lists each resource by zone or pool.
func (p *page) groups(c *scenario.Capacity, by string) {
	p.gap()
	t := newTable("."+strings.ToUpper(by), ".RESOURCE", ">NODES", ">HAS", ">USED", ">SD")
	for i := range c.Resources {
		r := &c.Resources[i]
		list := r.Zones
		if by == "pool" {
			list = r.Pools
		}
		for _, u := range list {
			t.add(u.Name, r.Resource, count(u.Nodes), amount(r.Resource, u.Allocatable), share(u.Requested, u.Allocatable), percentage(u.SD)+"%")
		}
	}
	if len(t.rows) == 0 {
		p.line("No node has a %s label.", by)
		return
	}
	slices.SortStableFunc(t.rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	p.table(t)
}

func amount(name string, n int64) string { return amounts(name, []int64{n})[0] }

func share(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return percentage(float64(part)/float64(whole)*100) + "%"
}

// percentage writes a share in percent with one decimal below ten.
func percentage(f float64) string {
	digits := 0
	if f < 10 && f > 0 {
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64)
}

// requestWords writes what a pod requests, such as "cpu 250m, memory 1Gi".
func requestWords(requests map[string]int64) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		words = append(words, name+" "+amount(name, requests[name]))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}
