package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestPrefixesOfIssuers: a user or group of an issuer is not taken for one of another source unless
// told.
func TestPrefixesOfIssuers(t *testing.T) {
	const issuer = "https://id.example"
	for _, c := range []struct{ claim, user, group, wantUser, wantGroup string }{
		{"sub", "", "", issuer + "#", issuer + "#"},
		{"sub", "-", "-", "", ""},
		{"sub", "u:", "g:", "u:", "g:"},
		{"email", "", "-", "", ""},
		{"email", "u:", "", "u:", issuer + "#"},
	} {
		s := oidcSettings{Issuer: issuer, Audience: "berth", UsernameClaim: c.claim, GroupsClaim: "groups", UsernamePrefix: c.user, GroupsPrefix: c.group, Algs: []string{"RS256"}}
		o, err := s.options()
		if err != nil || o.UsernamePrefix != c.wantUser || o.GroupsPrefix != c.wantGroup {
			t.Errorf("%+v: %+v, %v", c, o, err)
		}
	}
}

// TestOpenListenersAreNamed: a server that any caller reaches names its listener when it starts.
func TestOpenListenersAreNamed(t *testing.T) {
	for _, c := range []struct {
		s    settings
		want []string
	}{
		{settings{Listen: "0.0.0.0:0", Insecure: true}, []string{"flag=--listen"}},
		{settings{Listen: "0.0.0.0:0", Insecure: true, Access: accessSettings{RequireIdentity: true}}, nil},
		{settings{Listen: "127.0.0.1:0", Insecure: true}, nil},
		{settings{Listen: "127.0.0.1:0", Extender: extender{Listen: "0.0.0.0:0", Insecure: true}}, []string{"flag=--extender-listen"}},
		{settings{Listen: "127.0.0.1:0", Extender: extender{Listen: "127.0.0.1:0"}}, nil},
	} {
		var out bytes.Buffer
		list, err := c.s.listeners(slog.New(slog.NewTextHandler(&out, nil)))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			_ = p.listener.Close()
		}
		if got := strings.Count(out.String(), "need no identity"); got != len(c.want) || got > 0 && !strings.Contains(out.String(), c.want[0]) {
			t.Errorf("%+v: %s", c.s.Listen, out.String())
		}
	}
}
