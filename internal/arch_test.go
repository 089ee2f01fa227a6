package internal_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// imports maps each package to those of ours that it may import; a prefix ending in /... stands for
// all packages below. Packages that are not listed fail the test, so that a new package gets its
// line.
var imports = map[string][]string{
	"berth/migrations":                      {},
	"berth/test/migrationstest":             {},
	"berth/test/rollupcheck":                {},
	"berth/internal/jsonscan":               {},
	"berth/internal/semantics":              {},
	"berth/internal/steps":                  {},
	"berth/test/stepstest":                  {},
	"berth/internal/memory":                 {},
	"berth/internal/span":                   {},
	"berth/internal/kube/object":            {"berth/internal/words", "berth/internal/kube/object/stored"},
	"berth/internal/kube/object/stored":     {},
	"berth/internal/kube/object/apiserver":  {"berth/internal/kube/object/stored", "berth/internal/kube/object"},
	"berth/internal/podlife":                {"berth/internal/words", "berth/internal/semantics", "berth/internal/kube/object/stored", "berth/internal/kube/object", "berth/internal/kube/object/apiserver"},
	"berth/internal/podlife/admission":      {"berth/internal/podlife", "berth/internal/kube/object/stored", "berth/internal/kube/object", "berth/internal/kube/object/apiserver"},
	"berth/internal/priorityclass":          {"berth/internal/kube/object/stored", "berth/internal/kube/object", "berth/internal/kube/object/apiserver", "berth/internal/podlife", "berth/internal/store"},
	"berth/internal/engine":                 {"berth/internal/semantics", "berth/internal/engine/state", "berth/internal/kube/object"},
	"berth/internal/engine/explain/digest":  {"berth/internal/engine", "berth/internal/engine/state"},
	"berth/internal/engine/footprint":       {"berth/internal/engine", "berth/internal/engine/state"},
	"berth/internal/engine/preempt":         {"berth/internal/semantics", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/explain/digest"},
	"berth/internal/engine/recall":          {"berth/internal/engine", "berth/internal/engine/state"},
	"berth/internal/engine/explain":         {"berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/explain/digest", "berth/internal/engine/preempt"},
	"berth/internal/engine/state":           {"berth/internal/kube/object/stored", "berth/internal/kube/object", "berth/internal/podlife"},
	"berth/internal/engine/rules":           {"berth/internal/semantics", "berth/internal/kube/object/stored", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/preempt", "berth/internal/engine/devices", "berth/internal/kube/object"},
	"berth/internal/engine/devices":         {"berth/internal/semantics", "berth/internal/engine", "berth/internal/engine/state"},
	"berth/internal/engine/explain/suggest": {"berth/internal/kube/object/stored", "berth/internal/words", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/preempt", "berth/internal/engine/rules", "berth/internal/engine/explain"},
	"berth/test/player":                     {}, // it knows the server by its API alone
	"berth/test/enginetest":                 {"berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/explain/digest", "berth/internal/engine/recall", "berth/internal/engine/explain", "berth/internal/engine/rules", "berth/internal/semantics"},
	"berth/internal/config":                 {"berth/internal/semantics", "berth/internal/kube/object", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/rules"},
	"berth/internal/access":                 {"berth/internal/store"},
	"berth/test/accesstest":                 {"berth/internal/access"},
	"berth/internal/store":                  {},
	"berth/internal/store/groupcommit":      {"berth/internal/store"},
	"berth/internal/store/spool":            {"berth/internal/store"},
	"berth/test/storetest":                  {"berth/internal/audit", "berth/internal/queries", "berth/internal/store", "berth/test/rollupcheck"},
	"berth/internal/store/lists":            {"berth/internal/store"},
	"berth/internal/store/seal":             {"berth/internal/store", "berth/internal/store/lists"},
	"berth/internal/audit":                  {"berth/internal/store", "berth/internal/store/seal"},
	"berth/internal/store/batch":            {"berth/internal/store", "berth/internal/store/lists", "berth/internal/store/seal"},
	"berth/internal/store/rollup":           {"berth/internal/store"},
	"berth/internal/store/sqlcommon":        {"berth/internal/memory", "berth/internal/store", "berth/internal/store/lists", "berth/internal/store/rollup", "berth/internal/store/seal"},
	"berth/internal/store/sqlite":           {"berth/internal/memory", "berth/internal/store", "berth/internal/store/batch", "berth/internal/store/lists", "berth/internal/store/seal", "berth/internal/store/sqlcommon", "berth/migrations"},
	"berth/internal/store/postgres":         {"berth/internal/memory", "berth/internal/store", "berth/internal/store/batch", "berth/internal/store/lists", "berth/internal/store/seal", "berth/internal/store/sqlcommon", "berth/migrations"},
	"berth/test/pgtest":                     {},
	"berth/internal/revision":               {"berth/internal/podlife", "berth/internal/memory", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/recall", "berth/internal/kube/object", "berth/internal/store", "berth/internal/store/groupcommit"},
	"berth/internal/decision/admit":         {"berth/internal/store", "berth/internal/kube/object", "berth/internal/kube/object/apiserver", "berth/internal/revision", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/podlife", "berth/internal/podlife/admission"},
	"berth/internal/decision":               {"berth/internal/semantics", "berth/internal/engine/rules", "berth/internal/kube/object/stored", "berth/internal/memory", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/footprint", "berth/internal/engine/preempt", "berth/internal/engine/explain", "berth/internal/engine/explain/suggest", "berth/internal/kube/object", "berth/internal/revision", "berth/internal/podlife", "berth/internal/podlife/admission", "berth/internal/store"},
	"berth/internal/decision/record":        {"berth/internal/upgrade", "berth/internal/semantics", "berth/internal/memory", "berth/internal/decision", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/explain/digest", "berth/internal/engine/preempt", "berth/internal/engine/explain", "berth/internal/engine/rules", "berth/internal/kube/object", "berth/internal/revision", "berth/internal/store"},
	"berth/test/logtest":                    {"berth/internal/decision/bind", "berth/internal/decision", "berth/internal/decision/record", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/rules", "berth/internal/kube/object", "berth/internal/revision", "berth/internal/store", "berth/internal/store/groupcommit", "berth/internal/store/sqlite"},
	"berth/internal/decision/bind":          {"berth/internal/decision", "berth/internal/decision/record", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/explain", "berth/internal/kube/object", "berth/internal/revision", "berth/internal/store"},
	"berth/internal/upgrade":                {"berth/internal/decision", "berth/internal/engine", "berth/internal/kube/object", "berth/internal/revision", "berth/internal/semantics"},
	"berth/internal/report":                 {"berth/internal/words", "berth/internal/engine/rules", "berth/internal/semantics", "berth/internal/upgrade", "berth/internal/kube/object/stored", "berth/internal/decision", "berth/internal/decision/record", "berth/internal/engine", "berth/internal/engine/explain/suggest", "berth/internal/engine/state", "berth/internal/kube/object", "berth/internal/memory", "berth/internal/podlife", "berth/internal/podlife/admission", "berth/internal/revision", "berth/internal/store"},
	"berth/internal/scenario":               {"berth/internal/world", "berth/internal/kube/object/stored", "berth/internal/memory", "berth/internal/kube/object", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/engine/footprint", "berth/internal/engine/explain/digest", "berth/internal/engine/preempt", "berth/internal/engine/explain", "berth/internal/engine/recall", "berth/internal/engine/explain/suggest", "berth/internal/revision", "berth/internal/decision/admit", "berth/internal/decision", "berth/internal/podlife", "berth/internal/podlife/admission", "berth/internal/store"},
	"berth/internal/world":                  {"berth/internal/podlife/admission", "berth/internal/decision", "berth/internal/engine", "berth/internal/engine/explain", "berth/internal/engine/explain/digest", "berth/internal/engine/footprint", "berth/internal/engine/preempt", "berth/internal/engine/recall", "berth/internal/engine/state", "berth/internal/kube/object", "berth/internal/memory", "berth/internal/podlife", "berth/internal/revision", "berth/internal/store"},
	"berth/internal/blame":                  {"berth/internal/world", "berth/internal/decision", "berth/internal/engine", "berth/internal/engine/explain", "berth/internal/engine/footprint", "berth/internal/engine/preempt", "berth/internal/engine/state", "berth/internal/kube/object", "berth/internal/memory", "berth/internal/revision", "berth/internal/scenario", "berth/internal/store"},
	"berth/internal/ops/certs":              {},
	"berth/test/certstest":                  {},
	"berth/internal/kube/follow":            {"berth/internal/revision", "berth/internal/kube/object", "berth/internal/store"},
	"berth/test/kubetest":                   {},
	"berth/internal/jobs":                   {"berth/internal/semantics", "berth/internal/engine", "berth/internal/memory", "berth/internal/store"},
	"berth/internal/jobs/simulations":       {"berth/internal/world", "berth/internal/memory", "berth/internal/revision", "berth/internal/jobs", "berth/internal/scenario", "berth/internal/store"},
	"berth/internal/jobs/replays":           {"berth/internal/semantics", "berth/internal/jobs", "berth/internal/memory", "berth/internal/engine", "berth/internal/revision", "berth/internal/decision", "berth/internal/decision/record", "berth/internal/store"},
	"berth/internal/handlers":               {"berth/internal/world", "berth/api", "berth/internal/access", "berth/internal/handlers/admit", "berth/internal/handlers/events", "berth/internal/handlers/exchange", "berth/internal/handlers/extender", "berth/internal/handlers/rest", "berth/internal/scenario", "berth/internal/store"},
	"berth/internal/handlers/admit":         {"berth/internal/words", "berth/internal/semantics", "berth/internal/access", "berth/internal/decision", "berth/internal/decision/admit", "berth/internal/decision/bind", "berth/internal/decision/record", "berth/internal/engine", "berth/internal/engine/explain/suggest", "berth/internal/engine/state", "berth/internal/handlers/exchange", "berth/internal/handlers/extender/wire", "berth/internal/handlers/keyed", "berth/internal/handlers/limits", "berth/internal/handlers/observe", "berth/internal/kube/object", "berth/internal/memory", "berth/internal/jobs/replays", "berth/internal/revision", "berth/internal/jobs/simulations", "berth/internal/store"},
	"berth/internal/handlers/exchange":      {"berth/internal/words", "berth/internal/access", "berth/internal/decision", "berth/internal/decision/admit", "berth/internal/engine", "berth/internal/handlers/extender/wire", "berth/internal/handlers/limits", "berth/internal/kube/object", "berth/internal/memory", "berth/internal/priorityclass", "berth/internal/revision", "berth/internal/store"},
	"berth/internal/handlers/extender":      {"berth/internal/access", "berth/internal/decision", "berth/internal/decision/bind", "berth/internal/decision/record", "berth/internal/engine", "berth/internal/engine/explain", "berth/internal/engine/footprint", "berth/internal/engine/preempt", "berth/internal/engine/state", "berth/internal/handlers/admit", "berth/internal/handlers/exchange", "berth/internal/handlers/extender/wire", "berth/internal/handlers/limits", "berth/internal/handlers/observe", "berth/internal/kube/object", "berth/internal/memory", "berth/internal/revision"},
	"berth/internal/handlers/extender/wire": {},
	"berth/internal/handlers/events":        {"berth/internal/access", "berth/internal/handlers/admit", "berth/internal/handlers/exchange", "berth/internal/revision", "berth/internal/store"},
	"berth/internal/handlers/keyed":         {"berth/internal/decision", "berth/internal/handlers/exchange", "berth/internal/store"},
	"berth/internal/handlers/limits":        {"berth/internal/handlers/extender/wire", "berth/internal/kube/object"},
	"berth/internal/handlers/observe":       {"berth/internal/engine", "berth/internal/handlers/exchange", "berth/internal/revision"},
	"berth/internal/handlers/rest":          {"berth/internal/world", "berth/internal/blame", "berth/internal/words", "berth/internal/semantics", "berth/internal/kube/object/stored", "berth/internal/access", "berth/internal/audit", "berth/internal/config", "berth/internal/decision", "berth/internal/decision/admit", "berth/internal/decision/record", "berth/internal/engine", "berth/internal/engine/state", "berth/internal/handlers/admit", "berth/internal/handlers/exchange", "berth/internal/handlers/keyed", "berth/internal/handlers/limits", "berth/internal/handlers/observe", "berth/internal/kube/object", "berth/internal/kube/object/apiserver", "berth/internal/memory", "berth/internal/podlife", "berth/internal/podlife/admission", "berth/internal/queries", "berth/internal/jobs/replays", "berth/internal/report", "berth/internal/revision", "berth/internal/scenario", "berth/internal/jobs/simulations", "berth/internal/store"},
	"berth/api":                             {},
	"berth/examples":                        {},
	"berth/internal/words":                  {},
	"berth/internal/ops/doctor":             {"berth/internal/semantics", "berth/internal/words", "berth/internal/ops/certs", "berth/internal/engine", "berth/internal/kube/follow", "berth/internal/config"},
	"berth/internal/ops/admin":              {"berth/internal/ops/doctor", "berth/internal/handlers/admit"},
	"berth/internal/version":                {},
	"berth/internal/manual":                 {},
	"berth/internal/queries":                {"berth/migrations"},
	"berth/internal/handlers/web":           {"berth/internal/podlife", "berth/internal/world", "berth/internal/semantics", "berth/internal/apiclient", "berth/internal/access", "berth/internal/revision", "berth/internal/jobs/simulations", "berth/internal/queries", "berth/examples", "berth/internal/words", "berth/internal/engine", "berth/internal/engine/explain/suggest", "berth/internal/engine/rules", "berth/internal/decision", "berth/internal/decision/record", "berth/internal/report", "berth/internal/scenario", "berth/internal/handlers/admit", "berth/internal/handlers/exchange", "berth/internal/handlers/rest"},
	"berth/client":                          {},
	"berth/client/examples/fleet":           {"berth/client"},
	"berth/internal/apiclient":              {"berth/client"},
	"berth/internal/cli/export":             {},
	"berth/internal/cli/ledger":             {"berth/internal/apiclient", "berth/internal/kube/object"},
	"berth/internal/cli":                    {"berth/internal/world", "berth/internal/blame", "berth/internal/store", "berth/internal/upgrade", "berth/internal/semantics", "berth/internal/cli/export", "berth/internal/cli/ledger", "berth/internal/apiclient", "berth/internal/decision/record", "berth/internal/jobs/simulations", "berth/internal/audit", "berth/internal/ops/doctor", "berth/internal/handlers/web", "berth/internal/words", "berth/internal/manual", "berth/internal/decision", "berth/internal/revision", "berth/internal/engine", "berth/internal/engine/explain/suggest", "berth/internal/engine/rules", "berth/internal/kube/follow", "berth/internal/kube/object", "berth/internal/report", "berth/internal/scenario", "berth/internal/podlife", "berth/internal/podlife/admission", "berth/internal/config", "berth/internal/handlers", "berth/internal/handlers/admit", "berth/internal/handlers/limits", "berth/internal/handlers/rest"},
	"berth/cmd/berth":                       {"berth/internal/cli"},
	"berth/cmd/openapi":                     {"berth/api"},
	"berth/test/synth":                      {},
	"berth/test/differences":                {"berth/test/enginetest"},
	"berth/test/openb":                      {"berth/internal/kube/object", "berth/test/differences"},
	"berth/test/auditdata":                  {"berth/internal/queries", "berth/test/process"},
	"berth/test/benchcalls":                 {"berth/test/process"},
	"berth/test/benchcompare":               {},
	"berth/test/faults":                     {},
	"berth/test/hostile":                    {"berth/test/process"},
	"berth/test/patroni":                    {},
	"berth/test/process":                    {},
	"berth/test/soak":                       {"berth/test/process"},
	"berth/test/tenancy":                    {"berth/test/process"},
	"berth/test/upgrade":                    {},
	"berth/test/schedulerperf":              {"berth/test/pgtest", "berth/test/process"},
	"berth/test/throughput":                 {"berth/internal/...", "berth/migrations", "berth/test/pgtest", "berth/test/process"},
	"berth/test/database":                   {"berth/test/pgtest"},
	"berth/test/torture":                    {"berth/client", "berth/internal/revision", "berth/test/pgtest", "berth/test/rollupcheck", "berth/migrations"},
	"berth/cmd/server":                      {"berth/..."},
}

// everywhere are the packages that any other may import.
var everywhere = []string{"berth/internal/version", "berth/internal/jsonscan", "berth/internal/steps", "berth/internal/span"}

// ofUpstream are the packages that may import k8s.io/kubernetes
// (docs/decisions/0130-admission-by-upstream.md).
var ofUpstream = []string{"berth/internal/kube/object/apiserver", "berth/internal/config"}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "berth/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		all = append(all, p)
	}
	return all
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		allowed, known := imports[p.ImportPath]
		if !known {
			t.Errorf("%s has no line in the table of rooms", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			// Any package may read JSON, have loops that a caller makes long, and parts that a
			// trace shows.
			if !strings.HasPrefix(imp, "berth") || slices.Contains(everywhere, imp) || permits(allowed, imp) {
				continue
			}
			t.Errorf("%s imports %s, which its room may not", p.ImportPath, imp)
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "k8s.io/kubernetes") && !slices.Contains(ofUpstream, p.ImportPath) {
				t.Errorf("%s imports %s, which only %v may", p.ImportPath, imp, ofUpstream)
			}
		}
	}
}

// mostPackages is how many packages the server may consist of, Go's own among them
// (docs/decisions/0130-admission-by-upstream.md), and the module client.
const mostPackages = 914

// TestPackagesAreFew: a helper of Kubernetes may import a client for all of its groups.
func TestPackagesAreFew(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "berth/cmd/server").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := strings.Fields(string(out))
	if len(all) > mostPackages {
		t.Errorf("the server consists of %d packages, more than %d", len(all), mostPackages)
	}
	if slices.Contains(all, "k8s.io/client-go/kubernetes/scheme") {
		t.Error("the server has the types of all of Kubernetes' groups registered at each start")
	}
}

// mostFiles is how many files a package has, tests aside. What is about one subject moves into a
// package of its own before there are more.
const mostFiles = 40

// larger are the packages that may have more: each rule is a file, and scenarios are many.
var larger = map[string]int{"berth/internal/engine/rules": 80, "berth/internal/scenario": 50}

func TestPackagesAreSmall(t *testing.T) {
	for _, p := range packages(t) {
		most := mostFiles
		if more, is := larger[p.ImportPath]; is {
			most = more
		}
		if n := len(p.GoFiles); n > most {
			t.Errorf("%s has %d files, over %d", p.ImportPath, n, most)
		}
	}
}

// TestNoUnsafe: what a driver keeps in its memory is its own.
func TestNoUnsafe(t *testing.T) {
	for _, p := range packages(t) {
		if slices.Contains(p.Imports, "unsafe") {
			t.Errorf("%s imports unsafe", p.ImportPath)
		}
	}
}

func permits(allowed []string, imp string) bool {
	for _, a := range allowed {
		if a == imp || strings.HasSuffix(a, "/...") && strings.HasPrefix(imp, strings.TrimSuffix(a, "...")) {
			return true
		}
	}
	return false
}

// impure is what the engine must not touch: clocks, randomness, files, logs.
var impure = regexp.MustCompile(`\btime\.(Now|Since|Until|After|Sleep|NewTimer|NewTicker)\b|"math/rand|"crypto/rand"|"os"|"log"|"log/slog"|"net/http"`)

func TestEngineIsPure(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != "berth/internal/decision" && p.ImportPath != "berth/internal/scenario" && p.ImportPath != "berth/internal/engine" && !strings.HasPrefix(p.ImportPath, "berth/internal/engine/") {
			continue
		}
		for _, f := range p.GoFiles {
			raw, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if m := impure.Find(raw); m != nil {
				t.Errorf("%s/%s uses %s: the engine and decisions have no clock, no randomness and no I/O", p.ImportPath, f, m)
			}
		}
	}
}
