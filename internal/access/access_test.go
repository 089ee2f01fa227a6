package access

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
	"berth/internal/store/sqlite"
)

func TestMay(t *testing.T) {
	g := Grants{
		{Role: "decider", Clusters: []string{"prod-*"}, Namespaces: []string{"shop", "team-*-a"}},
		{Role: "viewer", Clusters: []string{"lab"}, Namespaces: []string{"*"}},
	}
	for _, c := range []struct {
		right              Right
		cluster, namespace string
		want               bool
	}{
		{Decide, "prod-eu", "shop", true},
		{View, "prod-eu", "shop", true},
		{Bind, "prod-eu", "shop", false},
		{View, "prod", "shop", false},
		{View, "prod-", "shop", true},
		{View, "prod-eu", "team-x-a", true},
		{View, "prod-eu", "team-a", false}, // the star's two sides do not overlap
		{View, "prod-eu", "", false},
		{View, "lab", "", true},
		{View, "lab", "any", true},
		{Decide, "lab", "any", false},
		{View, "", "", false},
		{View, "lab2", "", false},
	} {
		if got := g.May(c.right, c.cluster, c.namespace); got != c.want {
			t.Errorf("May(%s, %q, %q) = %t", c.right, c.cluster, c.namespace, got)
		}
	}
	if !All.May(Administer, "", "") || Grants(nil).MaySome(View, "") || (Grants{{Role: "root", Clusters: []string{"*"}, Namespaces: []string{"*"}}}).MaySome(View, "") {
		t.Error("all, nothing or an unknown role")
	}
}

func TestTokenText(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		text := NewToken()
		hash, err := hashToken(text)
		if err != nil || seen[text] || len(hash) != 32 || strings.Contains(string(hash), text) {
			t.Fatalf("%q: %v", text, err)
		}
		seen[text] = true
		for i := range text {
			changed := text[:i] + string(rune('a'+(text[i]-'a'+1)%26)) + text[i+1:]
			if _, err := hashToken(changed); changed != text && err == nil {
				t.Errorf("%q is taken for a token, with character %d changed", changed, i)
			}
		}
		for _, cut := range []string{"", text[:len(text)-1], text + "a", strings.ToUpper(text), " " + text} {
			if _, err := hashToken(cut); err == nil {
				t.Errorf("%q is taken for a token", cut)
			} else if strings.Contains(err.Error(), text[6:20]) {
				t.Errorf("the error quotes the token: %v", err)
			}
		}
	}
}

func openTokens(t *testing.T) (*Tokens, store.Store) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	tokens, err := OpenTokens(t.Context(), st, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return tokens, st
}

func TestTokensLive(t *testing.T) {
	tokens, st := openTokens(t)
	ctx := With(t.Context(), &Identity{Kind: KindToken, Name: "root"}, "10.0.0.7", "r1")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	grants := Grants{{Role: "viewer", Clusters: []string{"*"}, Namespaces: []string{"*"}}}
	_, secret, err := tokens.Create(ctx, "ci", grants, now.Add(time.Hour), now)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(what, secret string, at time.Time, want bool) {
		t.Helper()
		if i, ok := tokens.Identify(secret, at); ok != want || ok && i.String() != "token:ci" {
			t.Errorf("%s: %v %t", what, i, ok)
		}
	}
	valid("new", secret, now, true)
	valid("at its end", secret, now.Add(time.Hour), false)
	if _, _, err := tokens.Create(ctx, "ci", grants, time.Time{}, now); !errors.Is(err, ErrNameTaken) {
		t.Errorf("a second of the name: %v", err)
	}
	_, second, err := tokens.Rotate(ctx, "ci", time.Minute, now)
	if err != nil {
		t.Fatal(err)
	}
	valid("old, in the overlap", secret, now.Add(59*time.Second), true)
	valid("old, after it", secret, now.Add(time.Minute), false)
	valid("new, after it", second, now.Add(time.Minute), true)
	valid("new, at the end of its own lifetime", second, now.Add(time.Hour), false)
	tokens.writeUsed(ctx)
	if list, err := tokens.List(ctx); err != nil || len(list) != 2 || list[1].UsedAt == nil {
		t.Errorf("used: %+v %v", list, err)
	}
	if list, err := tokens.Revoke(ctx, "ci", now); err != nil || len(list) != 2 {
		t.Errorf("revoked %d: %v", len(list), err)
	}
	valid("revoked", second, now, false)
	if _, err := tokens.Revoke(ctx, "ci", now); !errors.Is(err, ErrNoToken) {
		t.Errorf("revoked again: %v", err)
	}
	log, err := st.AccessChanges(ctx, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, c := range log {
		actions = append(actions, c.Action)
		if want := (store.Asked{By: "token:root", Peer: "10.0.0.7", RequestID: "r1"}); c.Asked != want {
			t.Errorf("%s by %+v", c.Action, c.Asked)
		}
		if strings.Contains(string(c.Detail), "berth_") {
			t.Errorf("a secret is on record: %s", c.Detail)
		}
	}
	if got := strings.Join(actions, " "); got != "token.revoke token.revoke token.expire token.rotate token.create" {
		t.Errorf("records: %s", got)
	}
	if _, _, err := tokens.Create(ctx, "x", Grants{{Role: "owner"}}, time.Time{}, now); err == nil || !strings.Contains(err.Error(), "grants[0].role") {
		t.Errorf("a role that is none: %v", err)
	}
}

func TestRules(t *testing.T) {
	const good = `bindings:
- subjects: [{kind: User, name: alice}, {kind: Group, name: sre}]
  role: binder
  clusters: [prod]
  namespaces: ["*"]
`
	rules, err := ParseRules([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user   string
		groups []string
		want   bool
	}{{"alice", nil, true}, {"bob", []string{"dev", "sre"}, true}, {"sre", nil, false}, {"bob", []string{"alice"}, false}, {"", nil, false}} {
		if got := rules.Grants(c.user, c.groups).May(Bind, "prod", ""); got != c.want {
			t.Errorf("%s %v: %t", c.user, c.groups, got)
		}
	}
	for change, want := range map[string]string{
		"kind: User|kind: ServiceAccount": "bindings[0].subjects[0].kind",
		"name: alice|name: ''":            "bindings[0].subjects[0].name",
		"role: binder|role: Binder":       "bindings[0].role",
		"role: binder|rolle: binder":      "rolle",
		"[prod]|[Prod]":                   "bindings[0].clusters[0]",
		"[prod]|[]":                       "bindings[0].clusters",
		`["*"]|["a*b*"]`:                  "bindings[0].namespaces[0]",
		`  namespaces: ["*"]|`:            "bindings[0].namespaces",
		"bindings:|other:":                "other",
	} {
		from, to, _ := strings.Cut(change, "|")
		if _, err := ParseRules([]byte(strings.Replace(good, from, to, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

func TestFileIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.yaml")
	write := func(role string) {
		t.Helper()
		text := "bindings: [{subjects: [{kind: User, name: a}], role: " + role + ", clusters: ['*'], namespaces: ['*']}]"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("viewer")
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	changed, done := make(chan string, 9), make(chan struct{})
	go func() {
		defer close(done)
		f.Watch(ctx, time.Millisecond, slog.New(slog.DiscardHandler), func(digest string) { changed <- digest })
	}()
	write("owner") // not usable: the rules before stay
	time.Sleep(20 * time.Millisecond)
	if !f.Grants("a", nil).May(View, "x", "") {
		t.Error("a bad file took rights away")
	}
	write("admin")
	<-changed
	if !f.Grants("a", nil).May(Administer, "", "") {
		t.Error("the new file is not in force")
	}
	cancel()
	<-done
}

// canary is no token, and nothing may quote it.
const canary = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.c2ln"

func TestIdentify(t *testing.T) {
	tokens, _ := openTokens(t)
	_, secret, err := tokens.Create(t.Context(), "ci", All, time.Time{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a := &Authenticator{Tokens: tokens}
	for _, c := range []struct {
		header   string
		required bool
		want     string // empty: refused
	}{
		{"", false, "anonymous"},
		{"", true, ""},
		{"Bearer " + secret, true, "token:ci"},
		{"bearer " + secret, true, "token:ci"},
		{"Bearer " + secret, false, "token:ci"},
		{"Bearer " + secret[:20], false, ""}, // a token that is none is never let through
		{"Bearer " + canary, true, ""},
		{"Bearer " + canary, false, "anonymous"}, // for a proxy, which has its own
		{"Basic cm9vdDpyb290", true, ""},
		{"Basic cm9vdDpyb290", false, "anonymous"},
		{"Bearer", true, ""},
		{"Bearer " + secret + " x", true, ""},
		{"Bearer " + strings.Repeat("a", maxBearer+1), true, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if c.required {
			r = r.WithContext(Require(r.Context()))
		}
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		i, err := a.Identify(r)
		switch {
		case c.want == "" && (!errors.Is(err, ErrUnauthenticated) || i != nil):
			t.Errorf("%.40q required %t: %v %v", c.header, c.required, i, err)
		case c.want != "" && (err != nil || i.String() != c.want):
			t.Errorf("%.40q required %t: %v %v", c.header, c.required, i, err)
		}
		if err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), canary[:12])) {
			t.Errorf("the error quotes the token: %v", err)
		}
	}
}

func TestEmailHasToBeVerified(t *testing.T) {
	o := OIDCOptions{UsernameClaim: "email", GroupsClaim: "groups"}
	for verified, want := range map[string]bool{"true": true, "false": false, `"true"`: false} {
		i, err := o.identity(map[string]json.RawMessage{"email": []byte(`"a@b.example"`), "email_verified": []byte(verified), "groups": []byte(`"one"`)})
		if (err == nil) != want || want && (i.Name != "a@b.example" || i.Groups[0] != "one") {
			t.Errorf("%s: %+v %v", verified, i, err)
		}
	}
}
