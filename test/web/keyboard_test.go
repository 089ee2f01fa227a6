package web

import (
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabbing lists what a person may use on a page, and notes what the focus comes to and whether it
// is seen there. What folded parts hold is no stop before they are open.
const tabbing = `(() => {
	window.stops = Array.from(document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")).filter(e => !e.disabled && e.checkVisibility());
	window.visited = [];
	document.addEventListener("focusin", e => {
		const style = getComputedStyle(e.target);
		if (stops.includes(e.target)) visited.push({ at: e.target, seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 });
	});
	return stops.length;
})()`

// missed lists the stops that Tab left out or took out of order, and those where the focus is not
// seen.
const missed = `(() => {
	const name = e => e.tagName + " " + (e.id || e.name || e.textContent.trim().slice(0, 40));
	const out = [];
	stops.forEach((e, i) => {
		const v = visited[i];
		if (!v || v.at !== e) out.push("stop " + i + " is " + (v ? name(v.at) : "none") + ", want " + name(e));
		else if (!v.seen) out.push("the focus is not seen on " + name(e));
	});
	return out.slice(0, 3);
})()`

// listed presses the keys of lists, as berth.js takes them, and lists what they did not do. A row
// without a link is no stop.
const listed = `(() => {
	const out = [];
	const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
	const rows = Array.from(document.querySelectorAll("table.rows tbody tr")).map(r => r.querySelector("a[href]")).filter(Boolean);
	const at = (key, i) => {
		press(key);
		if (document.activeElement !== rows[i]) out.push(key + " does not come to row " + i + " of " + rows.length);
	};
	document.activeElement.blur();
	if (rows.length > 0) at("j", 0);
	if (rows.length > 1) { at("j", 1); at("k", 0); }
	press("?");
	if (!document.getElementById("help").open) out.push("? opens no help");
	document.getElementById("help").close();
	press("/");
	if (document.activeElement.id !== "find") out.push("/ does not find");
	return out;
})()`

// keyboard fails where a page cannot be used by keyboard alone: Tab comes to every control in the
// order in which the page has them, the focus is seen on each, and the keys of lists work.
func (b *browser) keyboard(address string) {
	b.t.Helper()
	b.show(look{1200, false, true}, address)
	var stops int
	b.js(tabbing, &stops)
	steps := make([]chromedp.Action, stops+8) // regions that scroll are stops of Chromium's own
	for i := range steps {
		steps[i] = chromedp.KeyEvent(kb.Tab)
	}
	var problems, more []string
	b.do(append(steps, chromedp.Evaluate(missed, &problems), chromedp.Evaluate(listed, &more))...)
	for _, p := range append(problems, more...) {
		b.t.Errorf("%s by keyboard: %s", address, p)
	}
}
