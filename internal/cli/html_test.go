package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	styleOf = regexp.MustCompile(`(?s)<style>.*?</style>`)
	// loading is what makes a browser load something, run something, or send something.
	loading = regexp.MustCompile(`(?i)<(script|link|img|iframe|form|object|embed)|\ssrc=|href="/|url\(|@import|\son[a-z]+=`)
)

// A page as one file has its style within, and loads, runs and sends nothing.
func TestGoldenHTML(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"html-explain", exitNo, []string{"explain", "shop/huge"}},
		{"html-explain-scheduled", exitYes, []string{"explain", "shop/small"}},
		{"html-pending", exitNo, []string{"pending", "-A"}},
		{"html-pending-claim-unbound", exitNo, []string{"pending", "-A", "--snapshot", fieldInputs + "nodename-wffc.yaml"}},
		{"html-queue", exitYes, []string{"queue"}},
		{"html-capacity", exitYes, []string{"capacity"}},
		{"html-fit", exitYes, []string{"fit", "shop/small", "--by", "zone"}},
		{"html-drain", exitYes, []string{"drain", "worker-1", "--snapshot", drains}},
		{"html-lose", exitNo, []string{"lose", "--zone", "eu-1a", "--snapshot", drains}},
		{"html-pools", exitNo, []string{"pools", "--like", "n-c2"}},
		{"html-compare", exitNo, []string{"compare", "--config", filepath.Join("..", "..", "examples", "packed.yaml")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := snapshot().run(t, append(c.args, "-o", "html")...)
			if r.code != c.code || r.err != "" {
				t.Errorf("code %d, stderr %q", r.code, r.err)
			}
			if style := styleOf.FindString(r.out); len(style) < 1000 {
				t.Errorf("the style is %.100s", style)
			}
			golden(t, c.name, styleOf.ReplaceAllString(r.out, "<style></style>"))
			if found := loading.FindString(r.out); found != "" {
				t.Errorf("the file has %q", found)
			}
			if strings.Count(r.out, "<h1>") != 1 || !strings.HasSuffix(r.out, "</html>\n") {
				t.Error("the page is not whole")
			}
		})
	}
}

// Without a page for it, -o html names the commands that have one.
func TestHTMLNeedsAPage(t *testing.T) {
	for _, args := range [][]string{{"victims", "shop/huge"}, {"explain", "shop/huge", "--node", "n-a1"}, {"explain", "shop/huge", "--all"}, {"version"}} {
		r := snapshot().run(t, append(args, "-o", "html")...)
		if r.code != exitBroken || r.out != "" || !strings.Contains(r.err, "explain, pending, queue") {
			t.Errorf("%v: code %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
}
