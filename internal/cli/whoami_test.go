package cli

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhoami(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer berth_secret" || r.URL.Path != "/v1/whoami" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"status":401,"detail":"this needs an identity"}`))
			return
		}
		_, _ = w.Write([]byte(`{"kind":"token","name":"ci","groups":["g"],"grants":[{"role":"viewer","clusters":["prod-*"],"namespaces":["*"]}]}`))
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("berth_secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	from := func(env ...string) call {
		c := call{env: map[string]string{"BERTH_SERVER": s.URL}}
		for i := 0; i < len(env); i += 2 {
			c.env[env[i]] = env[i+1]
		}
		return c
	}
	const want = "token ci, in g\nviewer: clusters prod-*, namespaces *\n"
	for _, c := range []call{from("BERTH_TOKEN", "berth_secret"), from("BERTH_TOKEN_FILE", file), from("BERTH_TOKEN_FILE", file, "BERTH_TOKEN", "other")} {
		if r := c.run(t, "whoami"); r.code != 0 || r.out != want {
			t.Errorf("%v: %+v", c.env, r)
		}
	}
	for what, c := range map[string]struct {
		from call
		args []string
		want string
	}{
		"no token":         {from(), nil, "this needs an identity"},
		"two words":        {from("BERTH_TOKEN", "a b"), nil, "one line"},
		"no such file":     {from(), []string{"--token-file", "none"}, "--token-file"},
		"in clear text":    {from("BERTH_TOKEN", "berth_secret"), []string{"--server", "http://berth.example"}, "clear text"},
		"without a server": {call{}, nil, "--server"},
	} {
		r := c.from.run(t, append([]string{"whoami"}, c.args...)...)
		if r.code != exitBroken || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "berth_secret") {
			t.Errorf("%s: %+v", what, r)
		}
	}
}

// TestCA: a certificate of a private CA is accepted once --ca names that CA.
func TestCA(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"kind":"token","name":"ci"}`))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	dir := t.TempDir()
	for name, text := range map[string][]byte{"ca": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), "none": []byte("none")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for ca, want := range map[string]string{"": "certificate", "ca": "", "none": "holds no certificate", "absent": "--ca"} {
		c := call{env: map[string]string{"BERTH_SERVER": s.URL}}
		if ca != "" {
			c.env["BERTH_CA"] = filepath.Join(dir, ca)
		}
		if r := c.run(t, "whoami"); (r.code == 0) != (want == "") || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", ca, r)
		}
	}
}
