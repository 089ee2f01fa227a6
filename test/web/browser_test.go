package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/axe.min.js
var axe string

// look is how a page is looked at.
type look struct {
	width  int64
	dark   bool
	script bool
}

// scheme is what the look prefers, as CSS names it.
func (l look) scheme() string {
	if l.dark {
		return "dark"
	}
	return "light"
}

// browser is a tab with what went wrong in it.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu       sync.Mutex
	outside  []string // requests to other servers
	messages []string // errors of the console
}

// open starts a browser for a server. Without Chromium the test is skipped, but fails in CI.
func open(t *testing.T, base string) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{os.Getenv("BERTH_TEST_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && name != "" {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Chromium is installed: make test-web installs Debian's")
		}
		t.Skip("no Chromium is installed: make test-web installs Debian's, or set BERTH_TEST_BROWSER")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true))
	start, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(start, chromedp.WithErrorf(func(string, ...any) {})) // events that it does not know
	t.Cleanup(func() { end(); stop() })
	b := &browser{t: t, ctx: ctx, base: base}
	chromedp.ListenTarget(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, base) && !strings.HasPrefix(e.Request.URL, "data:") {
				b.outside = append(b.outside, e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			b.messages = append(b.messages, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError && !refused.MatchString(e.Entry.Text) {
				b.messages = append(b.messages, e.Entry.Text)
			}
		}
	})
	b.do(network.Enable(), log.Enable(), runtime.Enable())
	return b
}

// do runs steps, which may take a minute together.
func (b *browser) do(steps ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if b.ctx.Value(started{}) == nil { // the first run starts the browser, which ends with its context
		ctx = b.ctx
		b.ctx = context.WithValue(b.ctx, started{}, true)
	}
	check(b.t, chromedp.Run(ctx, steps...))
}

type started struct{}

// refused is what a browser writes of a page about a mistake in its address or form.
var refused = regexp.MustCompile(`a status of (404 \(Not Found|400 \(Bad Request|422 \(Unprocessable Entity)\)$`)

// show opens an address as a look has it.
func (b *browser) show(l look, address string) {
	b.t.Helper()
	b.media("prefers-color-scheme", l.scheme())
	b.do(
		emulation.SetDeviceMetricsOverride(l.width, 900, 1, l.width < 600),
		emulation.SetScriptExecutionDisabled(!l.script),
		page.SetBypassCSP(false),
		chromedp.Navigate(b.base+address),
	)
}

// media prefers what pairs of a feature and its value say, and nothing else.
func (b *browser) media(pairs ...string) {
	b.t.Helper()
	var features []*emulation.MediaFeature
	for pair := range slices.Chunk(pairs, 2) {
		features = append(features, &emulation.MediaFeature{Name: pair[0], Value: pair[1]})
	}
	b.do(emulation.SetEmulatedMedia().WithFeatures(features))
}

// js evaluates an expression.
func (b *browser) js(expression string, into any) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, into))
}

// quiet fails on what went wrong since it was called last.
func (b *browser) quiet(address string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.messages {
		b.t.Errorf("%s: the console has %s", address, m)
	}
	for _, u := range b.outside {
		b.t.Errorf("%s loads %s", address, u)
	}
	b.messages, b.outside = nil, nil
}

// overflowing finds texts that run out of their boxes: a page wider than its window, and elements
// wider than themselves outside of a region that scrolls.
const overflowing = `(() => {
	const out = [];
	if (document.documentElement.scrollWidth > innerWidth + 1) out.push("the page is " + document.documentElement.scrollWidth + " wide in " + innerWidth);
	for (const e of document.querySelectorAll("main *, header *, footer *")) {
		if (e.closest("svg, .scroll, pre, textarea, select, input, .hidden, .cut") || e.clientWidth === 0 || getComputedStyle(e).display === "inline") continue;
		if (e.scrollWidth > e.clientWidth + 1) out.push(e.tagName + "." + e.className + ": " + e.textContent.trim().slice(0, 60));
	}
	return out.slice(0, 5);
})()`

// fits fails where a text runs out of its box.
func (b *browser) fits(address string, l look) {
	b.t.Helper()
	var found []string
	b.js(overflowing, &found)
	for _, f := range found {
		b.t.Errorf("%s at %d pixels: %s", address, l.width, f)
	}
}

// violation is what axe found.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// accessible fails where axe-core finds a violation of WCAG 2.2 A or AA or of its best practices.
func (b *browser) accessible(address string) {
	b.t.Helper()
	b.axe(address, `{resultTypes: ["violations"]}`)
}

// contrasts fails where a text differs too little from its background. The page is one that
// accessible has seen.
func (b *browser) contrasts(address string) {
	b.t.Helper()
	b.axe(address, `{resultTypes: ["violations"], runOnly: ["color-contrast"]}`)
}

// axe fails on the violations that axe-core finds. The page's policy allows no script of others,
// which is why axe is evaluated by the debugger.
func (b *browser) axe(address, options string) {
	b.t.Helper()
	var there bool
	b.js(`"axe" in window`, &there)
	if !there {
		b.do(chromedp.Evaluate(axe+";true", nil))
	}
	var raw string
	b.do(chromedp.Evaluate(`axe.run(document, `+options+`).then(r => JSON.stringify(r.violations))`, &raw, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	var list []violation
	check(b.t, json.Unmarshal([]byte(raw), &list))
	for _, v := range list {
		text := fmt.Sprintf("%s: axe finds %s (%s) %d times", address, v.ID, v.Help, len(v.Nodes))
		for _, n := range v.Nodes[:min(2, len(v.Nodes))] {
			text += "\n\t" + n.HTML[:min(200, len(n.HTML))] + "\n\t" + strings.ReplaceAll(n.Summary, "\n", " ")
		}
		b.t.Error(text)
	}
}
