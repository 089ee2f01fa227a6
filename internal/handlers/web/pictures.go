package web

import (
	"fmt"
	"html"
	"html/template"
	"strings"

	"berth/internal/engine"
)

// Pictures are SVG with presentation attributes and classes alone, since the policy of the pages
// forbids style attributes. Each stands beside its figures in a table, so that it is hidden from
// screen readers.

const (
	barWidth  = 160
	barHeight = 12
)

// svg wraps shapes of a width and height in pixels.
func svg(width, height int, class, shapes string) template.HTML {
	return template.HTML(fmt.Sprintf( //nolint:gosec // shapes are made of numbers and escaped text
		`<svg class="%s" width="%d" height="%d" viewBox="0 0 %d %d" aria-hidden="true" focusable="false">%s</svg>`, class, width, height, width, height, shapes))
}

// share is the part of a width, in pixels; what is more than nothing is seen.
func share(part, whole, width int) int {
	if part <= 0 || whole <= 0 {
		return 0
	}
	return max(1, min(width, part*width/whole))
}

// bar draws a share of a whole.
func bar(part, whole int, class string) template.HTML {
	return svg(barWidth, barHeight, "bar", fmt.Sprintf(
		`<rect class="track" width="%d" height="%d"/><rect class="%s" width="%d" height="%d"/>`, barWidth, barHeight, class, share(part, whole, barWidth), barHeight))
}

// stack draws a node's weighted scores one after the other, at most the width for a score of most.
func stack(scores []engine.PluginScore, most int64) template.HTML {
	var b strings.Builder
	x := 0
	for i, s := range scores {
		w := share(int(s.Weighted), int(most), 2*barWidth)
		if w == 0 {
			continue
		}
		fmt.Fprintf(&b, `<rect class="s%d" x="%d" width="%d" height="%d"><title>%s %d</title></rect>`, i%8, x, w, barHeight, html.EscapeString(s.Plugin), s.Weighted)
		x += w
	}
	return svg(2*barWidth+8, barHeight, "bar", b.String())
}

// ledgerBar draws a domain's pods, the one that would come as an outline, and the limit as a line.
func ledgerBar(pods, most int, limit *int, allowed, eligible bool) template.HTML {
	const height = 14
	class := "good"
	switch {
	case !eligible:
		class = "out"
	case !allowed:
		class = "bad"
	}
	have, then := share(pods, most, barWidth), share(pods+1, most, barWidth)
	var b strings.Builder
	fmt.Fprintf(&b, `<rect class="track" width="%d" height="%d"/><rect class="%s" width="%d" height="%d"/>`, barWidth, height, class, have, height)
	if eligible {
		fmt.Fprintf(&b, `<rect class="ghost" x="%d" y="0.5" width="%d" height="%d"/>`, have, max(then-have, 1), height-1)
	}
	if limit != nil {
		x := share(*limit, most, barWidth)
		fmt.Fprintf(&b, `<line class="limit" x1="%d" x2="%d" y1="0" y2="%d"/>`, x, x, height)
	}
	return svg(barWidth+2, height, "bar", b.String())
}

// strip draws attempts, the oldest first: a cell each, wider where more came out alike.
func strip(cells []stripCell) template.HTML {
	const height = 18
	var b strings.Builder
	x := 0
	for _, c := range cells {
		w := 10
		for n := c.Count; n > 1 && w < 60; n /= 2 {
			w += 6
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%d" width="%d" height="%d"><title>%s</title></rect>`, c.Class, x, w-1, height, html.EscapeString(c.Title))
		x += w
	}
	return svg(max(x, 1), height, "strip", b.String())
}

// stripCell is one or more attempts that came out alike.
type stripCell struct {
	Class, Title string
	Count        int
}
