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

// distributionOf is of a list, which it sorts, each number times a factor.
func distributionOf(list []float64, factor float64) (d Distribution) {
	if len(list) == 0 {
		return d
	}
	slices.Sort(list)
	round := func(x float64) float64 { return math.Round(x*(1000*factor)) / 1000 }
	at := func(p float64) float64 { // the nearest rank
		return round(list[max(int(math.Ceil(p*float64(len(list))))-1, 0)])
	}
	mean, squares := 0.0, 0.0
	for _, x := range list {
		mean += x
	}
	mean /= float64(len(list))
	for _, x := range list {
		squares += (x - mean) * (x - mean)
	}
	sd := math.Sqrt(squares / float64(len(list)))
	return Distribution{Mean: round(mean), SD: round(sd), Min: at(0), P10: at(.1), P50: at(.5), P90: at(.9), Max: at(1)}
}

// distribution is of requested/allocatable over rows that have some of the resource.
func (c *gridColumn) distribution(rows []int32) Distribution {
	list := make([]float64, 0, len(rows))
	for _, row := range rows {
		if c.allocatable[row] > 0 {
			list = append(list, float64(c.requested[row])/float64(c.allocatable[row]))
		}
	}
	return distributionOf(list, 100)
}

// groups sums a resource up by a label of nodes. Nodes without the label are in none.
func (g *grid) groups(c *gridColumn, label string) []GroupUse {
	by := map[string][]int32{}
	for _, row := range g.rows {
		if value, ok := g.set.Node(int(row)).Labels[label]; ok && c.allocatable[row] > 0 {
			by[value] = append(by[value], row)
		}
	}
	out := make([]GroupUse, 0, len(by))
	for value, rows := range by {
		u := GroupUse{Name: value, Nodes: len(rows), Distribution: c.distribution(rows)}
		for _, row := range rows {
			u.Allocatable += c.allocatable[row]
			u.Requested += c.requested[row]
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b GroupUse) int { return cmp.Compare(a.Name, b.Name) })
	return out[:min(len(out), maxGroups)]
}

// maxGroups is how many zones or pools are listed, by name.
const maxGroups = 200
