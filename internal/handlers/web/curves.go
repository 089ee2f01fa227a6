package web

import (
	"fmt"
	"html"
	"html/template"
	"maps"
	"slices"
	"strings"

	"berth/internal/scenario"
)

// curve is one figure of a simulation over its attempts, a line for each profile: small multiples
// with the same axis.
type curve struct {
	Name    string
	Picture template.HTML
	// Ends are the last values, in the order of the profiles.
	Ends []curveEnd
}

type curveEnd struct {
	Profile, Class string
	Value          float64
}

const (
	curveWidth  = 300
	curveHeight = 80
)

// curvesOf draws the resources' use in percent, the pods that wait, and the nodes in use.
func curvesOf(s *scenario.Simulation) []curve {
	if len(s.Profiles) == 0 {
		return nil
	}
	names := map[string]bool{}
	for i := range s.Profiles {
		for j := range s.Profiles[i].Series {
			for name := range s.Profiles[i].Series[j].Used {
				names[name] = true
			}
		}
	}
	out := []curve{
		drawCurve("Pods that wait", s, func(p *scenario.Sample) float64 { return float64(p.Waiting) }),
		drawCurve("Nodes in use", s, func(p *scenario.Sample) float64 { return float64(p.NodesInUse) }),
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, drawCurve(name+" requested, % of allocatable", s, func(p *scenario.Sample) float64 { return p.Used[name] }))
	}
	return out
}

func drawCurve(name string, s *scenario.Simulation, value func(*scenario.Sample) float64) curve {
	out := curve{Name: name}
	most, last := 1.0, 1
	for i := range s.Profiles {
		for j := range s.Profiles[i].Series {
			p := &s.Profiles[i].Series[j]
			most, last = max(most, value(p)), max(last, p.Attempts)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<line class="axis" x1="0" y1="%d" x2="%d" y2="%d"/>`, curveHeight, curveWidth, curveHeight)
	for i := range s.Profiles {
		var points strings.Builder
		series := s.Profiles[i].Series
		for j := range series {
			p := &series[j]
			fmt.Fprintf(&points, "%d,%d ", p.Attempts*curveWidth/last, curveHeight-int(value(p)/most*(curveHeight-2)))
		}
		class := fmt.Sprintf("l%d", i%8)
		fmt.Fprintf(&b, `<polyline class="%s" points="%s"><title>%s</title></polyline>`, class, strings.TrimSpace(points.String()), html.EscapeString(s.Profiles[i].Name))
		if len(series) > 0 {
			out.Ends = append(out.Ends, curveEnd{s.Profiles[i].Name, class, value(&series[len(series)-1])})
		}
	}
	out.Picture = svg(curveWidth, curveHeight+1, "curve", b.String())
	return out
}
