package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	linkTo    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// anchorsOf returns the anchors of a page's headings, as the pages of a repository have them.
func anchorsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(h[1]), "")
		out[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return out
}

// TestPageReferences: links between pages lead to files and headings that there are.
func TestPageReferences(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "git", "-C", "..", "ls-files", "*.md").Output()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err) // no repository
	}
	checked := 0
	for _, page := range strings.Fields(string(list)) {
		raw, err := os.ReadFile(filepath.Join("..", page))
		if os.IsNotExist(err) {
			continue // deleted and not committed yet
		}
		for _, m := range linkTo.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(raw), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			checked++
			to, anchor, _ := strings.Cut(m[1], "#")
			file := filepath.Join("..", page)
			if to != "" {
				file = filepath.Join(filepath.Dir(file), filepath.FromSlash(to))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
				continue
			}
			if text, _ := os.ReadFile(file); anchor != "" && strings.HasSuffix(file, ".md") && !anchorsOf(string(text))[anchor] {
				t.Errorf("%s links to %s, and there is no such heading", page, m[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links", checked)
	}
}
