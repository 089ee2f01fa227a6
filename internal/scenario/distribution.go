package scenario

import (
	"cmp"
	"math"
	"slices"
)

// percent is a share in percent, to one thousandth: more digits would depend on the order of a sum.
func percent(part, whole float64) float64 {
	return math.Round(part/whole*100_000) / 1000
}

// distribution is of requested/allocatable over rows that have some of the resource.
func (c *gridColumn) distribution(rows []int32) Distribution {
	list := make([]float64, 0, len(rows))
	for _, row := range rows {
		if c.allocatable[row] > 0 {
			list = append(list, float64(c.requested[row])/float64(c.allocatable[row]))
		}
	}
	if len(list) == 0 {
		return Distribution{}
	}
	slices.Sort(list)
	at := func(p float64) float64 { // the nearest rank
		return percent(list[max(int(math.Ceil(p*float64(len(list))))-1, 0)], 1)
	}
	mean, sd := moments(list)
	return Distribution{Mean: percent(mean, 1), SD: percent(sd, 1), Min: at(0), P10: at(.1), P50: at(.5), P90: at(.9), Max: at(1)}
}

// moments returns mean and standard deviation.
func moments(list []float64) (mean, sd float64) {
	for _, x := range list {
		mean += x
	}
	mean /= float64(len(list))
	for _, x := range list {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(len(list)))
}

// groups sums a resource up by a label of nodes. Nodes without the label are in none.
func (g *grid) groups(c *gridColumn, label string) []GroupUse {
	type group struct {
		GroupUse
		shares []float64
	}
	by := map[string]*group{}
	for _, row := range g.rows {
		value, ok := g.set.Node(int(row)).Labels[label]
		if !ok || c.allocatable[row] <= 0 {
			continue
		}
		u := by[value]
		if u == nil {
			u = &group{GroupUse: GroupUse{Name: value}}
			by[value] = u
		}
		u.Nodes++
		u.Allocatable += c.allocatable[row]
		u.Requested += c.requested[row]
		u.shares = append(u.shares, float64(c.requested[row])/float64(c.allocatable[row]))
	}
	out := make([]GroupUse, 0, len(by))
	for _, u := range by {
		slices.Sort(u.shares)
		mean, sd := moments(u.shares)
		u.Mean, u.SD = percent(mean, 1), percent(sd, 1)
		out = append(out, u.GroupUse)
	}
	slices.SortFunc(out, func(a, b GroupUse) int { return cmp.Compare(a.Name, b.Name) })
	return out[:min(len(out), maxGroups)]
}

// maxGroups is how many zones or pools are listed, by name.
const maxGroups = 200
