package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const aPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: extra, namespace: shop}\nspec:\n  containers:\n  - name: c\n    resources: {requests: {cpu: 500m}}\n"

// everywhere are the pages that answer without a cluster, too.
var everywhere = []string{"/", "/queue", "/nodes", "/decisions", "/snapshots", "/compare", "/map", "/capacity", "/fit", "/drain", "/lose", "/pools", "/simulate", "/sql", "/play", "/settings"}

// ofSample are further pages about the sample, ID being a decision's.
var ofSample = []string{
	"/pods/shop/checkout", "/pods/shop/import", "/pods/shop/web-4", "/pods/shop/report", "/pods/shop/web-1", "/decisions/ID", "/decisions/ID/nodes/node-a1",
	"/decisions/ID/replay", "/snapshots/sample@1", "/map?pod=shop/import&in=zone-a/", "/fit?ask=1&by=zone&pod=" + url.QueryEscape(aPod),
	"/drain?ask=1&nodes=node-a1&force=on", "/lose?ask=1&zone=zone-a", "/pools?ask=1&like=node-a1", "/simulate?ask=1&count=8&pod=" + url.QueryEscape(aPod),
	"/sql?query=history-of-a-pod&namespace=shop&pod=checkout", "/sql?query=scores-of-a-pod&namespace=shop", "/sql?query=revisions",
	"/find?q=nothing", "/find?q=node-a", "/nodes/node-a1", "/nodes?state=cordoned", "/drain?ask=1&nodes=nope", "/decisions?since=yesterday", "/compare?a=sample@1&b=sample@1",
}

// ofLarge are further pages about 5,000 nodes.
var ofLarge = []string{"/pods/default/wait-7", "/decisions/ID", "/map?pod=default/wait-7", "/?cause=InsufficientCPU"}

// ofLargeToo are tried with BERTH_TEST_FULL=1 alone, beside the pages that answer everywhere.
var ofLargeToo = []string{
	"/decisions/ID/replay", "/snapshots/large@1", "/compare?a=large@1&b=large@2", "/fit?ask=1&by=zone&pod=" + url.QueryEscape(aPod),
	"/pools?ask=1&like=node-00000", "/simulate?ask=1&count=8&pod=" + url.QueryEscape(aPod), "/sql?query=revisions",
}

var looks = []look{{380, true, true}, {1600, false, true}}

// Each page at both widths in both schemes, by keyboard alone, and without script.
func TestPages(t *testing.T) {
	base := serve(t)
	b := open(t, base)
	try := func(cluster, id string, pages ...[]string) {
		for _, list := range pages {
			for _, address := range list {
				at := with(strings.ReplaceAll(address, "ID", id), cluster)
				for _, l := range looks {
					b.show(l, at)
					b.fits(at, l)
					b.accessible(at)
					l.dark = !l.dark
					b.media("prefers-color-scheme", l.scheme())
					b.contrasts(at + " in the other scheme")
					b.quiet(at)
				}
				b.keyboard(at)
				b.show(look{width: 1000}, at)
				var head string
				b.do(chromedp.Text("h1", &head, chromedp.ByQuery))
				if strings.TrimSpace(head) == "" {
					t.Errorf("%s has no head without script", at)
				}
				b.quiet(at)
			}
		}
	}
	try("", "", everywhere)
	id := sample(t, base)
	try("sample", id, everywhere, ofSample)
	if testing.Short() {
		return
	}
	id = large(t, base)
	try("large", id, []string{"/", "/queue", "/map", "/capacity"}, ofLarge)
	if os.Getenv("BERTH_TEST_FULL") == "1" {
		try("large", id, everywhere, ofLargeToo)
	}
}

// The first page is small, whatever the cluster.
func TestFirstPageIsSmall(t *testing.T) {
	base := serve(t)
	large(t, base)
	resp, err := http.Get(base + "/?cluster=large")
	check(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	if len(body) > 150_000 {
		t.Errorf("the first page of 5,000 nodes and 400 pods that wait has %d bytes, want 150,000 at most", len(body))
	}
	t.Logf("%d bytes", len(body))
}

func TestKeys(t *testing.T) {
	base := serve(t)
	sample(t, base)
	b := open(t, base)
	b.show(look{1200, false, true}, "/?cluster=sample")
	press := func(key, expression, want string) {
		t.Helper()
		var got string
		b.do(chromedp.KeyEvent(key), chromedp.Evaluate(expression, &got))
		if got != want {
			t.Errorf("after %q %s is %q, want %q", key, expression, got, want)
		}
	}
	focus := `document.activeElement.textContent || document.activeElement.id`
	var first, second string
	b.js(`document.querySelectorAll("table.rows tbody a")[0].textContent`, &first)
	b.js(`document.querySelectorAll("table.rows tbody a")[1].textContent`, &second)
	press("j", focus, first)
	press("j", focus, second)
	press("k", focus, first)
	press("?", `String(document.getElementById("help").open)`, "true")
	press("?", `String(document.getElementById("help").open)`, "false")
	press("t", `document.documentElement.dataset.theme`, "light")
	press("t", `document.documentElement.dataset.theme`, "dark")
	press("/", `document.activeElement.id`, "find")
	b.do(chromedp.KeyEvent("shop/import"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`//h1[contains(., "shop/import")]`))
	b.show(look{1200, false, true}, "/?cluster=sample")
	b.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	press("j", focus, first) // the link that skips to the content leaves the keys working
	b.quiet("/")
}

// The page's address and each command are copied by a button.
func TestCopies(t *testing.T) {
	base := serve(t)
	sample(t, base)
	b := open(t, base)
	b.show(looks[1], "/pods/shop/checkout?cluster=sample")
	var link, command, copied, want string
	b.js(`Object.defineProperty(navigator, "clipboard", {value: {writeText: t => { window.copied = t; return Promise.resolve(); }}}); location.href`, &link)
	b.do(chromedp.Click(`#link + button`, chromedp.ByQuery), chromedp.Evaluate(`window.copied`, &copied))
	b.js(`document.querySelector("code.copy").textContent`, &command)
	b.do(chromedp.Click(`code.copy + button`, chromedp.ByQuery), chromedp.Evaluate(`window.copied`, &want))
	if copied != link || want != command || command == "" {
		t.Errorf("copied %q of %q, and %q of %q", copied, link, want, command)
	}
	b.quiet("/pods/shop/checkout")
}

// A cluster whose texts try to be more than text is shown, and nothing of it is run.
func TestHostileTexts(t *testing.T) {
	base := serve(t)
	hostile(t, base)
	b := open(t, base)
	for _, at := range []string{"/?cluster=hostile", "/map?cluster=hostile&group=big", "/sql?cluster=hostile&query=unschedulable-pods", "/pods/default/p1?cluster=hostile", "/pods/default/p2?cluster=hostile", "/find?cluster=hostile&q=" + url.QueryEscape("<img src=x onerror=document.title='run'>")} {
		for _, l := range looks {
			b.show(l, at)
			var title string
			b.do(chromedp.Title(&title))
			if title == "run" {
				t.Errorf("%s runs what the cluster holds", at)
			}
			b.fits(at, l)
			b.quiet(at)
		}
	}
	// No label that is stored can be hostile. One that is refused is shown all the same.
	for _, label := range []string{strings.Repeat("x", 10<<10), "<img src=x onerror=\"document.title='run'\">", "\u202eמרושע \u2066שלום\u2069"} {
		node := fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"big":%q}}}`, label)
		b.show(looks[0], "/play")
		b.js(fmt.Sprintf(`document.querySelector("[name=objects]").value = %q; document.querySelector("[name=objects]").form.requestSubmit(); true`, node), nil)
		b.do(chromedp.WaitVisible(`//h1[contains(., "invalid")]`))
		b.fits("/play with a label", looks[0])
		b.accessible("/play with a label")
		var title, head string
		b.do(chromedp.Title(&title), chromedp.Evaluate(`document.querySelector("main .lead").innerText`, &head))
		if title == "run" || len(head) > 2000 || !strings.Contains(head, "labels") {
			t.Errorf("of a label of %d bytes the page shows %q, entitled %q", len(label), head, title)
		}
	}
	b.mu.Lock()
	b.messages = nil // the browser tells of the status 422
	b.mu.Unlock()
	var text string
	b.show(looks[1], "/pods/default/p1?cluster=hostile")
	b.do(chromedp.Text("main", &text))
	if !strings.Contains(text, "<img src=x onerror=") {
		t.Errorf("the message is not shown as it is: %.300s", text)
	}
}

// A page about the newest revision follows the cluster by itself.
func TestPageFollowsTheCluster(t *testing.T) {
	base := serve(t)
	sample(t, base)
	b := open(t, base)
	b.show(look{1200, false, true}, "/?cluster=sample")
	send(t, base+"/v1/snapshots/sample@latest/changes", "application/json", strings.NewReader(
		`{"apply":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"late","namespace":"shop"},"spec":{"nodeSelector":{"disk":"none"},"containers":[{"name":"c"}]}}]}`))
	b.do(chromedp.WaitVisible(`//a[. = "shop/late"]`))
	b.quiet("/")
}

// A link to play with holds the cluster and the pod in its fragment, and nothing of it is sent
// before the question is.
func TestPlayLink(t *testing.T) {
	base := serve(t)
	b := open(t, base)
	b.show(look{1200, false, true}, "/play?example=spread")
	b.do(chromedp.Click(`//button[. = "Decide"]`), chromedp.WaitVisible(`//h1[contains(., "default/shop-4")]`))
	var link string
	b.do(chromedp.Location(&link))
	_, fragment, there := strings.Cut(link, "/play#")
	if !there || len(fragment) < 100 {
		t.Fatalf("the page's address is %s", link)
	}
	b.show(look{1200, false, true}, "/")
	b.show(look{1200, false, true}, "/play#"+fragment)
	b.do(chromedp.WaitVisible(`//h1[contains(., "default/shop-4")]`))
	b.accessible("/play with an answer")
	b.show(look{1200, false, true}, "/")
	b.show(look{1200, false, true}, "/play#damaged")
	b.do(chromedp.WaitVisible(`//span[contains(., "The link is damaged")]`))
	b.show(look{width: 1200}, "/play?example=never") // without script
	b.do(chromedp.Click(`//button[. = "Decide"]`), chromedp.WaitVisible(`//h1[contains(., "default/experiment")]`))
	b.quiet("/play")
}

// A job's page shows how far it is, and then its answer, by itself.
func TestPageFollowsAJob(t *testing.T) {
	base := serve(t)
	sample(t, base)
	b := open(t, base)
	made := send(t, base+"/v1/simulations", "application/json", strings.NewReader(
		`{"base":"sample@latest","wait":"0s","arrivals":{"workloads":[{"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1m"}}}]}},"count":3000}]}}`))
	job := "/jobs/" + path.Base(made.Get("Location"))
	b.show(looks[1], job)
	b.do(chromedp.WaitVisible(`//h2[. = "At the end"]`))
	for _, l := range looks {
		b.show(l, job)
		b.fits(job, l)
		b.accessible(job)
	}
	b.show(look{width: 1000}, job)
	b.do(chromedp.WaitVisible(`//h2[. = "At the end"]`))
	b.quiet(job)
}

// A page as one file is the same page: it fits, is accessible, and loads and runs nothing.
func TestPageAsAFile(t *testing.T) {
	dir := t.TempDir()
	dump := filepath.Join("..", "..", "examples", "cluster.yaml")
	pods := filepath.Join("..", "..", "examples", "pods.yaml")
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	b := open(t, server.URL)
	for name, args := range map[string][]string{
		"pending": {"pending", "-A", "--snapshot", dumpOf(t, dir, dump, pods)}, "explain": {"explain", "shop/import", "--snapshot", dumpOf(t, dir, dump, pods)},
		"drain": {"drain", "node-a1", "--force", "--snapshot", dump}, "compare": {"compare", "--config", filepath.Join("..", "..", "examples", "packed.yaml"), "--snapshot", dump},
	} {
		page, err := exec.Command(filepath.Join(binaries, "berth"), append(args, "-o", "html")...).Output()
		if len(page) == 0 {
			t.Fatalf("%v: %v", args, err)
		}
		check(t, os.WriteFile(filepath.Join(dir, name+".html"), page, 0o600))
		for _, l := range looks {
			b.show(l, "/"+name+".html")
			b.fits(name, l)
			b.accessible(name)
		}
		b.quiet(name)
	}
}

// dumpOf is a dump of two files.
func dumpOf(t *testing.T, dir string, files ...string) string {
	t.Helper()
	var all []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		check(t, err)
		all = append(append(all, text...), "\n---\n"...)
	}
	out := filepath.Join(dir, "dump.yaml")
	check(t, os.WriteFile(out, all, 0o600))
	return out
}
