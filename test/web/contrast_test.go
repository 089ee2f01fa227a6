package web

import "testing"

// drawn tells the parts of pictures and legends apart from the ground: without their own colours
// they are all the same.
const drawn = `(() => {
	const ground = getComputedStyle(document.body).backgroundColor;
	const out = [];
	for (const e of document.querySelectorAll("main .key")) if (getComputedStyle(e).backgroundColor === ground) out.push("key " + e.className);
	for (const e of document.querySelectorAll("main svg rect:not(.ghost, .track)")) if (getComputedStyle(e).fill === ground) out.push("rect " + e.getAttribute("class"));
	return out.slice(0, 5);
})()`

// With more contrast texts have 7 to 1 (WCAG 2.2 AAA), and with forced colours pictures and their
// legends keep their parts apart, in both schemes.
func TestHighContrast(t *testing.T) {
	base := serve(t)
	id := sample(t, base)
	b := open(t, base)
	for _, address := range []string{"/?cluster=sample", "/pods/shop/checkout?cluster=sample", "/map?cluster=sample&pod=shop/import", "/decisions/" + id, "/capacity?cluster=sample"} {
		for _, l := range looks {
			b.show(l, address)
			b.media("prefers-color-scheme", l.scheme(), "prefers-contrast", "more")
			b.axe(address+" with more contrast", `{resultTypes: ["violations"], runOnly: ["color-contrast", "color-contrast-enhanced"], rules: {"color-contrast-enhanced": {enabled: true}}}`)
			b.media("prefers-color-scheme", l.scheme(), "forced-colors", "active")
			var lost []string
			b.js(drawn, &lost)
			for _, a := range lost {
				t.Errorf("%s with forced colours: %s has the ground's colour", address, a)
			}
			b.fits(address, l)
		}
	}
	b.quiet("high contrast")
}
