package web

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// News leave alone what a person is in the middle of: a form that was typed into stays as it is, a
// list of decisions offers the new ones, and a selection stays until it is given up.
func TestNewsHarmNothing(t *testing.T) {
	base := serve(t)
	sample(t, base)
	b := open(t, base)
	decide := func(pod string) {
		send(t, base+"/v1/decisions", "application/json", strings.NewReader(`{"snapshot":"sample@latest","podRef":{"namespace":"shop","name":"`+pod+`"}}`))
	}
	b.show(look{1200, false, true}, "/decisions?cluster=sample")
	b.do(chromedp.SendKeys(`[name=namespace]`, "payments", chromedp.ByQuery), chromedp.SendKeys(`[name=pod]`, "gt", chromedp.ByQuery))
	decide("import")
	decide("checkout")
	b.do(chromedp.WaitVisible(`//a[@id = "news" and contains(., "2 new decisions")]`))
	b.do(chromedp.Click("#news", chromedp.ByQuery), chromedp.WaitNotVisible("#news", chromedp.ByQuery))
	var typed, at string
	b.js(`document.querySelector("[name=namespace]").value + " " + document.querySelector("[name=pod]").value`, &typed)
	b.js(`location.pathname`, &at)
	if typed != "payments gt" || at != "/decisions" {
		t.Errorf("after news the form has %q at %s", typed, at)
	}
	var rows int
	b.js(`document.querySelectorAll("table.rows tbody tr").length`, &rows)
	if rows < 2 {
		t.Errorf("%d rows after the new ones were asked for", rows)
	}
	b.show(look{1200, false, true}, "/?cluster=sample")
	var chosen string
	b.js(`(() => { const h = document.querySelector("main h1"); getSelection().selectAllChildren(h); return getSelection().toString(); })()`, &chosen)
	send(t, base+"/v1/snapshots/sample@latest/changes", "application/json", strings.NewReader(
		`{"apply":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"later","namespace":"shop"},"spec":{"nodeSelector":{"disk":"none"},"containers":[{"name":"c"}]}}]}`))
	b.do(chromedp.WaitVisible(`//a[@id = "news" and contains(., "show")]`))
	var still string
	b.js(`getSelection().toString()`, &still)
	if still != chosen || chosen == "" {
		t.Errorf("the selection was %q and is %q", chosen, still)
	}
	b.do(chromedp.Click("#news", chromedp.ByQuery), chromedp.WaitVisible(`//a[. = "shop/later"]`))
	b.quiet("news")
}

// The head has whether the page is live, and ages go on.
func TestHeadSaysWhetherThePageIsLive(t *testing.T) {
	base := serve(t)
	sample(t, base)
	to, err := url.Parse(base)
	check(t, err)
	var down atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	b := open(t, front.URL)
	b.show(look{1200, false, true}, "/?cluster=sample")
	b.do(chromedp.WaitVisible(`//p[@id = "live" and @class = "ok" and contains(., "live")]`))
	var first string
	b.js(`document.querySelector("#of time.age").textContent`, &first)
	b.do(chromedp.Poll(`document.querySelector("#of time.age").textContent !== "`+first+`"`, nil))
	down.Store(true)
	b.do(chromedp.WaitVisible(`//p[@id = "live" and @class = "bad" and contains(., "disconnected")]`))
	down.Store(false)
	b.do(chromedp.WaitVisible(`//p[@id = "live" and @class = "ok"]`))
	b.show(look{1200, false, true}, "/capacity?cluster=sample&snapshot=sample@1")
	b.do(chromedp.WaitVisible(`//p[@id = "live" and @class = "off" and contains(., "as it was then")]`))
}
