package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/audit"
	"berth/internal/store"
)

// TestAudit has a server whose chain takes two calls, without and with findings, and one that is
// not the anchor's.
func TestAudit(t *testing.T) {
	found := audit.Finding{Cluster: "prod", Table: "decisions", What: audit.Changed, From: 17, To: 17, ID: "0197a1b2-c3d4-7e5f-8a9b-0123456789ab", Seal: 300, Detail: "decision 17 (0197a1b2-c3d4-7e5f-8a9b-0123456789ab) is not as it was written"}
	head := audit.Head{Cluster: "prod", Seal: 300, Hash: "ab12", Seq: 21}
	var asked []string
	tampered := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		q := r.URL.Query()
		part := audit.Report{Cluster: "prod", FromSeal: 1, ToSeal: 256, More: true, Rows: map[store.SealTable]int64{store.SealDecisions: 15, store.SealRevisions: 2}, Head: head, Findings: []audit.Finding{}}
		switch {
		case r.URL.Path == "/v1/audit/heads":
			_ = json.NewEncoder(w).Encode(audit.Anchor{Heads: []audit.Head{head}})
			return
		case r.URL.Path != "/v1/clusters/prod/audit":
			w.WriteHeader(http.StatusNotFound)
			return
		case q.Get("after") == "256":
			part.FromSeal, part.ToSeal, part.More = 257, 300, false
			if tampered {
				part.Findings = append(part.Findings, found)
			}
			if hash := q.Get("hash"); hash != "" && (hash != head.Hash || q.Get("seal") != "300") {
				part.Findings = append(part.Findings, audit.Finding{Table: "seals", What: audit.Anchored, From: 300, To: 300, Detail: "seal 300 has another hash than the anchor"})
			}
		}
		_ = json.NewEncoder(w).Encode(part)
	}))
	defer s.Close()
	from := call{env: map[string]string{"BERTH_SERVER": s.URL}}

	heads := from.run(t, "audit", "head")
	golden(t, "audit-head", heads.out)
	file := filepath.Join(t.TempDir(), "anchor.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(heads.out)
	verify := []string{"audit", "verify", "--cluster", "prod"}
	check := func(name string, code int, more ...string) {
		t.Helper()
		asked = nil
		r := from.run(t, append(verify, more...)...)
		if r.code != code || len(asked) != 2 || !strings.Contains(asked[1], "after=256") {
			t.Errorf("%s: code %d, %q, asked %q", name, r.code, r.err, asked)
		}
		golden(t, name, r.out)
	}
	check("audit-good", exitYes)
	check("audit-good", exitYes, "--anchor", file)
	tampered = true
	check("audit-found", exitNo)
	check("audit-found-json", exitNo, "-o", "json")
	tampered = false
	write(strings.Replace(heads.out, "ab12", "cd34", 1))
	check("audit-anchor", exitNo, "--anchor", file)

	for want, args := range map[string][]string{
		"--anchor":             append(verify, "--anchor", "none"),
		"has no cluster other": {"audit", "verify", "--cluster", "other", "--anchor", file},
	} {
		if r := from.run(t, args...); r.code != exitBroken || !strings.Contains(r.err, want) {
			t.Errorf("%v: %+v", args, r)
		}
	}
	for _, verb := range []string{"verify", "head"} {
		if r := (call{}).run(t, "audit", verb); r.code != exitBroken || !strings.Contains(r.err, "--server http://127.0.0.1:8080") {
			t.Errorf("audit %s without a server: %+v", verb, r)
		}
	}
}
