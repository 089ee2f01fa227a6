package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/ops/doctor"
	"berth/internal/store/postgres"
	"berth/test/certstest"
	"berth/test/kubetest"
	"berth/test/pgtest"
)

// examined runs the command and returns its exit code and findings.
func examined(t *testing.T, args ...string) (int, []doctor.Finding) {
	t.Helper()
	code, out, errs := command(t, append([]string{"doctor", "-o", "json"}, args...)...)
	var list []doctor.Finding
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("exit %d: %v: %s%s", code, err, out, errs)
	}
	return code, list
}

func finds(t *testing.T, list []doctor.Finding, check string, level doctor.Level, want string) {
	t.Helper()
	for _, f := range list {
		if f.Check == check && f.Level == level && strings.Contains(f.Text, want) {
			return
		}
	}
	t.Errorf("want %s %s %q in\n%s", check, level, want, doctor.Text(list))
}

// TestDoctor: a fresh machine is in order, and the check leaves nothing behind.
func TestDoctor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	code, list := examined(t, "--data-dir", dir)
	finds(t, list, "settings", doctor.OK, "would start")
	finds(t, list, "store", doctor.OK, "there is none")
	if code != 0 {
		t.Errorf("exit %d\n%s", code, doctor.Text(list))
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the check made the data directory")
	}
	r := serve(t, dir)
	_, list = examined(t, "--data-dir", dir)
	finds(t, list, "store", doctor.OK, "is open in a running server")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	_, list = examined(t, "--data-dir", dir)
	finds(t, list, "store", doctor.OK, "has schema")
	code, list = examined(t, "--data-dir", dir, "--listen", "0.0.0.0:1", "--extender-deadline", "1s", "--audit", "relaxed")
	finds(t, list, "settings", doctor.Problem, "--listen 0.0.0.0:1 can be reached")
	finds(t, list, "settings", doctor.Problem, "--hold-rejections")
	finds(t, list, "settings", doctor.Problem, "--audit")
	if code != 2 {
		t.Errorf("exit %d", code)
	}
	code, list = examined(t, "--data-dir", dir, "--database-unsafe")
	finds(t, list, "settings", doctor.Warning, "--database-unsafe")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "PRAGMA user_version = 99")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	_, list = examined(t, "--data-dir", dir)
	finds(t, list, "store", doctor.Problem, "has schema 99, and this program knows")
	if err := os.WriteFile(filepath.Join(dir, "berth.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, list = examined(t, "--data-dir", dir)
	finds(t, list, "store", doctor.Problem, "not a database")
	if code, _, errs := command(t, "doctor", "--scheduler-config", "/no/such"); code != 1 || !strings.Contains(errs, "--scheduler-config") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestDoctorLooksOutside: apiserver, certificates and kube-scheduler's file are checked with the
// settings in force.
func TestDoctorLooksOutside(t *testing.T) {
	dir := t.TempDir()
	s, kubeconfig := kubetest.NewTLS(t)
	ca := certstest.New(t, "ca")
	cert, key := ca.Sign("berth", nil)
	for name, content := range map[string][]byte{"c": cert, "k": key, "a": ca.PEM, "s": []byte(`{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, percentageOfNodesToScore: 100,
extenders: [{urlPrefix: "https://berth.example:8443", filterVerb: filter, nodeCacheCapable: true, enableHTTPS: true, httpTimeout: 3s, tlsConfig: {caFile: ` + filepath.Join(dir, "a") + `}}]}`)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	args := []string{
		"--data-dir", at("data"), "--follow", "prod=" + kubeconfig, "--extender-listen", "127.0.0.1:0", "--extender-tls-cert", at("c"),
		"--extender-tls-key", at("k"), "--extender-tls-client-ca", at("a"), "--scheduler-config", at("s"),
	}
	code, list := examined(t, args...)
	finds(t, list, "apiserver", doctor.OK, "runs Kubernetes v1.36")
	finds(t, list, "rights", doctor.Warning, "cannot be checked")
	finds(t, list, "certificate", doctor.Problem, "berth.example")
	finds(t, list, "scheduler", doctor.Problem, "httpTimeout 3s is not above --extender-deadline 4s")
	finds(t, list, "scheduler", doctor.Problem, "has no client certificate")
	if code != 2 {
		t.Errorf("exit %d", code)
	}
	s.Down(true)
	_, list = examined(t, args...)
	finds(t, list, "apiserver", doctor.Problem, "does not answer")
	_, list = examined(t, "--data-dir", at("data"), "--follow", "prod="+at("a"))
	finds(t, list, "apiserver", doctor.Problem, "kubeconfig")
}

// TestDoctorDatabase: each setting that a server refuses is named with its remedy, and so are
// connections that are short.
func TestDoctorDatabase(t *testing.T) {
	url := func(settings ...string) string {
		u := pgtest.Private(t, pgtest.Options{Settings: settings}).URL()
		if err := postgres.MigrateUp(t.Context(), u, postgres.MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
		return u
	}
	database := func(u string) []doctor.Finding {
		t.Setenv("DATABASE_URL", u)
		_, list := examined(t, "--data-dir", t.TempDir())
		return list
	}
	list := database(url("fsync=off", "full_page_writes=off", "max_connections=12", "superuser_reserved_connections=3"))
	finds(t, list, "database", doctor.Problem, "fsync is off")
	finds(t, list, "database", doctor.Problem, "full_page_writes is off")
	finds(t, list, "database", doctor.Warning, "a server opens up to 10")
	finds(t, list, "clock", doctor.OK, "the database agrees")
	good := url()
	finds(t, database(good), "database", doctor.OK, "settings durable")
	server := pgtest.Private(t, pgtest.Options{Standby: true})
	for want, u := range map[string]string{
		"read-only standby": server.URL(), "pooler in transaction mode": pgtest.Pooler(t, good), "UTF8 but LATIN1": pgtest.Encoded(t, pgtest.Shared(t), "LATIN1"),
	} {
		list := database(u)
		finds(t, list, "database", doctor.Problem, want)
		for _, f := range list {
			if strings.Contains(f.Text, want) && (f.Remedy == "" || f.Remedy == remedyOf(nil)) {
				t.Errorf("no remedy of its own: %+v", f)
			}
		}
	}
	finds(t, database(pgtest.With(good, "options", "-c synchronous_commit=off")), "database", doctor.Problem, "synchronous_commit is off")
	if err := postgres.MigrateTo(t.Context(), good, 15, postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	list = database(good)
	finds(t, list, "database", doctor.Problem, "run `server migrate up`")
	for _, f := range list {
		if f.Check == "database" && f.Level == doctor.Problem && f.Remedy != "Run server migrate up." {
			t.Errorf("remedy: %+v", f)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close() // nothing listens there now
	list = database("postgres://berth:canary-word@" + l.Addr().String() + "/berth")
	finds(t, list, "database", doctor.Problem, "examine postgres")
	if strings.Contains(doctor.Text(list), "canary-word") {
		t.Error("the password is in the findings")
	}
}
