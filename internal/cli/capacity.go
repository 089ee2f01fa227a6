package cli

import (
	"encoding/json"
	"errors"
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

// newNodes are the flags for nodes that are not in the cluster.
type newNodes struct{ like, templates []string }

func (f *newNodes) flags(cmd *cobra.Command, what string) {
	cmd.Flags().StringArrayVar(&f.like, "like", nil, what+" like this one; ,zone=ZONE and so on is what they have otherwise")
	cmd.Flags().StringArrayVar(&f.templates, "template", nil, what+" as in this file of Nodes, or of cpu=N,memory=N and so on")
}

// read returns the nodes, with what only pools have.
func (f *newNodes) read(a *app) (list []scenario.NodePool, err error) {
	for _, text := range f.like {
		name, rest, _ := strings.Cut(text, ",")
		pool := scenario.NodePool{AddNodes: scenario.AddNodes{Like: nodeName(name)}}
		if err := setAll(&pool, "--like "+text, rest); err != nil {
			return nil, err
		}
		list = append(list, pool)
	}
	for _, text := range f.templates {
		file, rest, _ := strings.Cut(text, ",")
		if strings.Contains(file, "=") {
			file, rest = "", text
		}
		pools := []scenario.NodePool{{}}
		if file != "" {
			if pools, err = a.nodesIn(file); err != nil {
				return nil, err
			}
		}
		for i := range pools {
			if err := setAll(&pools[i], "--template "+text, rest); err != nil {
				return nil, err
			}
		}
		list = append(list, pools...)
	}
	return list, nil
}

// nodesIn reads the Nodes of a file, each under a name that the cluster need not have.
func (a *app) nodesIn(file string) (pools []scenario.NodePool, err error) {
	r, end, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer end()
	err = eachObject(r, func(kind string, raw json.RawMessage) error {
		var own struct {
			Kind     string
			Metadata struct{ Name string }
		}
		_ = json.Unmarshal(raw, &own) // eachObject has read it
		if kind != "Node" && own.Kind != "" {
			return fmt.Errorf("want Nodes, not a %s", own.Kind)
		}
		pools = append(pools, scenario.NodePool{AddNodes: scenario.AddNodes{Template: raw}})
		return nil
	})
	if err == nil && len(pools) == 0 {
		err = errors.New("there is no Node in it")
	}
	if err != nil {
		return nil, fmt.Errorf("--template %s: %w", file, err)
	}
	return pools, nil
}

// setAll sets what stands behind the node or file of a flag: KEY=VALUE,KEY=VALUE.
func setAll(pool *scenario.NodePool, flag, text string) error {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		if want, err := set(pool, key, value); want != "" {
			return fmt.Errorf("%s: want %s, not %q", flag, want, part)
		} else if err != nil {
			return fmt.Errorf("%s: %s: %w", flag, key, err)
		}
	}
	return nil
}

// set sets one thing of new nodes. It returns what is wanted where the key or the form is wrong.
func set(pool *scenario.NodePool, key, value string) (want string, err error) {
	switch key {
	case "name":
		pool.Name = value
	case "cost":
		pool.Cost = new(float64)
		*pool.Cost, err = strconv.ParseFloat(value, 64)
		want = "cost=NUMBER"
	case "max":
		pool.Max = new(int)
		*pool.Max, err = strconv.Atoi(value)
		want = "max=NUMBER"
	default:
		known := ""
		if known, err = pool.Set(key, value); known != "" {
			return strings.Replace(known, "each with =", "name, cost or max, each with =", 1), nil
		}
	}
	if value == "" {
		return key + "=VALUE", nil
	}
	if err == nil || want == "" {
		return "", err
	}
	return want, nil
}
