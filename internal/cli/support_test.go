package cli

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unpack returns the files of a bundle.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(h.Name, "berth-support/")] = string(body)
	}
}

// adminServer is an admin listener whose answers are their own addresses, but for those that are
// given.
func adminServer(t *testing.T, answers map[string]string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch body, ok := answers[r.URL.Path]; {
		case !ok:
			_, _ = io.WriteString(w, r.URL.String())
		case body == "":
			http.Error(w, "is broken", http.StatusInternalServerError)
		default:
			_, _ = io.WriteString(w, body)
		}
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestSupport(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("data"), 0o700), os.WriteFile(at("data/berth.db"), make([]byte, 300), 0o600)); err != nil {
		t.Fatal(err)
	}
	address := adminServer(t, map[string]string{"/metrics": ""})
	got := call{env: map[string]string{"BERTH_ADMIN_LISTEN": address}}.run(t, "support", "--data-dir", at("data"), "-f", at("b"))
	if got.code != 0 || !strings.Contains(got.err, "metrics.txt") || !strings.Contains(got.err, "is broken") || !strings.Contains(got.out, "7 files") {
		t.Fatalf("%+v", got)
	}
	files := unpack(t, at("b"))
	for name, want := range map[string]string{
		"berth.json": `"version": "v1"`, "statusz.json": "/statusz?debug=2&names=hidden", "log.ndjson": "/logz?debug=2&names=hidden", "flagz.json": "names=hidden",
		"doctorz.json": "names=hidden", "goroutines.txt": "/debug/pprof/goroutine?debug=2", "files.txt": "300 berth.db", "missing.txt": "is broken",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s: %q, want %q", name, files[name], want)
		}
	}
	if info, err := os.Stat(at("b")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if got := (call{}).run(t, "support", "--admin", address, "--names", "-f", at("n")); got.code != 0 || strings.Contains(unpack(t, at("n"))["statusz.json"], "hidden") {
		t.Errorf("--names: %+v", got)
	}
	for name, args := range map[string][]string{
		"must not be overwritten": {"--admin", address, "-f", at("b")},
		"no source":               {},
		"nothing collected":       {"--admin", "127.0.0.1:1", "-f", at("e")},
	} {
		if got := (call{}).run(t, append([]string{"support"}, args...)...); got.code != 1 || got.err == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestDoctorAsksTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	config := `{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, percentageOfNodesToScore: 100,
extenders: [{urlPrefix: "http://127.0.0.1:1/clusters/prod", filterVerb: filter, bindVerb: bind, nodeCacheCapable: true, httpTimeout: 5s}]}`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{
		"/statusz": `{"version":"v1","clusters":[{"name":"prod","follow":{}}]}`, "/flagz": `[{"name":"extender-deadline","value":"4s"},{"name":"bind-timeout","value":"3s"}]`,
		"/doctorz": `[{"check":"disk","level":"ok","text":"is fine"}]`,
	}
	check := func(name string, code int, want string, args ...string) {
		t.Helper()
		got := call{env: map[string]string{"BERTH_ADMIN_LISTEN": adminServer(t, answers)}}.run(t, append([]string{"doctor", "--scheduler-config", file}, args...)...)
		if got.code != code || !strings.Contains(got.out, want) || got.err != "" {
			t.Errorf("%s: exit %d, want %d and %q in\n%s%s", name, got.code, code, want, got.out, got.err)
		}
	}
	check("good", 0, "disk         is fine")
	check("JSON", 0, `"check": "disk"`, "-o", "json")
	check("no server", 2, "is not ready", "--server", "http://127.0.0.1:1")
	answers["/flagz"] = `[{"name":"extender-deadline","value":"6s"}]`
	check("the server's own deadline", 2, "--extender-deadline 6s")
	answers["/flagz"] = `[{"name":"extender-listen","value":"\"127.0.0.1:2\""},{"name":"extender-tls-cert","value":"\"c\""}]`
	check("the server's own listener", 2, "calls without TLS")
	answers["/flagz"], answers["/statusz"] = "[]", `{"version":"v2","clusters":[]}`
	check("not followed", 2, "does not follow cluster prod")
	answers["/statusz"] = `{"version":"v2","clusters":[{"name":"prod","follow":{}}]}`
	check("another version", 1, "the server is v2, and this program is v1")
	answers["/doctorz"] = ""
	check("no answer", 2, "is broken")
	if got := (call{}).run(t, "doctor"); got.code != 1 || !strings.Contains(got.err, "nothing to check") {
		t.Errorf("%+v", got)
	}
}
