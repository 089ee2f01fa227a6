package web

import (
	"context"
	"flag"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var (
	update = flag.Bool("update", false, "write the pictures of docs/explorer.md again")
	only   = flag.String("only", "", "write this one alone")
)

// TestScreenshots writes the pictures of docs/explorer.md: make screenshots.
func TestScreenshots(t *testing.T) {
	if !*update {
		t.Skip("make screenshots writes them")
	}
	base := serve(t)
	b := open(t, base)
	id := sample(t, base)
	send(t, base+"/v1/snapshots/sample@latest/changes", "application/json", strings.NewReader(
		`{"apply":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-c1","labels":{"topology.kubernetes.io/zone":"zone-c","disk":"ssd"}},"status":{"allocatable":{"cpu":"4","memory":"4Gi","pods":"20"}}}]}`))
	if *only == "" || strings.HasPrefix(*only, "map") {
		large(t, base)
	}
	made := send(t, base+"/v1/simulations", "application/json", strings.NewReader(
		`{"base":"sample@latest","wait":"0s","arrivals":{"workloads":[{"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1m"}}}]}},"count":3000}]}}`))
	for _, s := range []struct {
		name, address string
		look          look
	}{
		{"job", "/jobs/" + path.Base(made.Get("Location")), looks[1]},
		{"pending", "/?cluster=sample", looks[1]},
		{"pod", "/pods/shop/checkout?cluster=sample", looks[1]},
		{"pod-dark", "/pods/shop/web-4?cluster=sample", look{1600, true, true}},
		{"pod-narrow", "/pods/shop/import?cluster=sample", looks[0]},
		{"queue", "/queue?cluster=sample", looks[1]},
		{"decisions", "/decisions?cluster=sample", looks[1]},
		{"decision", "/decisions/" + id, looks[1]},
		{"replay", "/decisions/" + id + "/replay?with=sample@latest", looks[1]},
		{"snapshots", "/snapshots?cluster=sample", looks[1]},
		{"snapshot", "/snapshots/sample@2", looks[1]},
		{"compare", "/compare?a=sample@1&b=sample@2", looks[1]},
		{"map", "/map?cluster=large", looks[1]},
		{"map-verdict", "/map?cluster=sample&pod=shop/import", looks[1]},
		{"capacity", "/capacity?cluster=sample", looks[1]},
		{"fit", "/fit?cluster=sample&ask=1&by=zone&pod=" + url.QueryEscape(aPod), looks[1]},
		{"drain", "/drain?cluster=sample&ask=1&zone=zone-a&force=on", looks[1]},
		{"lose", "/lose?cluster=sample&ask=1&zone=zone-a", looks[1]},
		{"pools", "/pools?cluster=sample&ask=1&like=node-a1", looks[1]},
		{"simulate", "/simulate?cluster=sample&ask=1&count=12&pod=" + url.QueryEscape(aPod), looks[1]},
		{"sql", "/sql?cluster=sample&query=history-of-a-pod&namespace=shop&pod=checkout", looks[1]},
		{"play", "/play", looks[1]},
		{"settings", "/settings?cluster=sample", looks[1]},
	} {
		if *only != "" && s.name != *only {
			continue
		}
		l := s.look
		if l.width == 1600 {
			l.width = 1200
		}
		b.show(l, s.address)
		var picture []byte
		b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			picture, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(70).Do(ctx)
			return err
		}))
		check(t, os.MkdirAll(filepath.Join("..", "..", "docs", "images"), 0o755))
		check(t, os.WriteFile(filepath.Join("..", "..", "docs", "images", s.name+".webp"), picture, 0o644))
	}
}
