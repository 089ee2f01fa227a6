package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// planted is a secret that no output may have.
const planted = "zvk9"

// secretURLs are ways in which a secret gets into an address. A user of a database is none.
func secretURLs(scheme, rest string) []string {
	user := planted
	if strings.HasPrefix(scheme, "postgres") {
		user = "app"
	}
	return []string{
		scheme + "://user:" + planted + "@127.0.0.1:1" + rest, scheme + "://" + user + "@127.0.0.1:1" + rest, scheme + "://user:x@" + planted + "@127.0.0.1:1" + rest,
		scheme + "://user:x#" + planted + "@127.0.0.1:1" + rest, scheme + "://user:x/" + planted + "@127.0.0.1:1" + rest, scheme + "://user:x%" + planted + "@127.0.0.1:1" + rest,
		scheme + "://user:12/" + planted + "@127.0.0.1:1" + rest, scheme + "://127.0.0.1:1" + rest + "?token=" + planted, scheme + "://127.0.0.1:1" + rest + "?password=" + planted, "user:" + planted + "@127.0.0.1:1",
	}
}

// TestNoSecretIsSaid: whatever has an address or a token may be given a secret in it, in an
// argument or in the environment; no command repeats it, in an error, a log line or a help.
func TestNoSecretIsSaid(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	scheduler := func(prefix string) string {
		file := filepath.Join(t.TempDir(), "scheduler.yaml")
		text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders: [{urlPrefix: '" + prefix + "', filterVerb: filter}]\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	kubeconfig := func(server string) string {
		file := filepath.Join(t.TempDir(), "kubeconfig")
		text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: '" + server + "'}}]\nusers: [{name: u, user: {token: " + planted + "}}]\n" +
			"contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "prod=" + file
	}
	database := []string{"serve", "doctor", "config print", "migrate up", "migrate status", "migrate down", "audit verify", "audit head", "token list", "quarantine show"}
	settings := []string{"serve", "doctor", "config print"}
	oidc := []string{"--oidc-audience", "berth"}
	for _, c := range []struct {
		flag, env string
		values    []string
		commands  []string
		more      []string
		file      func(string) string
	}{
		{"--database-url", "DATABASE_URL", secretURLs("postgres", "/d"), database, nil, nil},
		{"--database-url", "BERTH_DATABASE_URL", append(secretURLs("postgresql", "/d"), "host=127.0.0.1 port=1 password="+planted), database, nil, nil},
		{"--direct-database-url", "BERTH_DIRECT_DATABASE_URL", secretURLs("postgres", "/d"), []string{"migrate up", "migrate status"}, []string{"--database-url", "postgres://127.0.0.1:1/d"}, nil},
		{"--oidc-issuer", "BERTH_OIDC_ISSUER", secretURLs("https", ""), settings, oidc, nil},
		{"--otlp-endpoint", "BERTH_OTLP_ENDPOINT", secretURLs("http", ""), settings, nil, nil},
		{"--cors-origin", "BERTH_CORS_ORIGIN", secretURLs("https", ""), settings, nil, nil},
		{"--server", "", secretURLs("http", ""), []string{"replay 01a2"}, nil, nil},
		{"--server", "", []string{"http://127.0.0.1:1"}, []string{"replay 01a2"}, []string{"BERTH_TOKEN=" + planted}, nil},
		{"--scheduler-config", "", secretURLs("http", "/clusters/prod"), []string{"doctor"}, nil, scheduler},
		{"--follow", "", secretURLs("https", ""), []string{"doctor", "config print"}, nil, kubeconfig},
		{"--otlp-endpoint", "", []string{"http://127.0.0.1:1"}, []string{"serve"}, []string{"OTEL_EXPORTER_OTLP_HEADERS=" + planted}, nil},
		{"--otlp-endpoint", "", []string{"http://127.0.0.1:1"}, []string{"serve"}, []string{"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer " + planted}, nil},
	} {
		for _, value := range c.values {
			if c.file != nil {
				value = c.file(value)
			}
			for _, words := range c.commands {
				args, env := strings.Fields(words), []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
				for _, m := range c.more {
					if strings.HasPrefix(m, "BERTH_") || strings.HasPrefix(m, "OTEL_") {
						env = append(env, m)
					} else {
						args = append(args, m)
					}
				}
				if args[0] != "replay" {
					args = append(args, "--data-dir", t.TempDir())
				}
				if args[0] == "serve" {
					args = append(args, "--listen", "127.0.0.1:0", "--log-level", "debug", "--spool-dir", t.TempDir())
				}
				try := func(args, env []string) {
					patience := 20 * time.Second // of a command that ends by itself
					if args[0] == "serve" {
						patience = time.Second
					}
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					cmd := exec.CommandContext(ctx, program, args...)
					cmd.Env, cmd.WaitDelay = env, 5*time.Second
					cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
					var out bytes.Buffer
					cmd.Stdout, cmd.Stderr = &out, &out
					_ = cmd.Run() // most are refused
					for line := range strings.Lines(out.String()) {
						if strings.Contains(line, planted) {
							t.Errorf("%s of %s, %v: %s", args[0], value, env[2:], line)
						}
					}
					if out.Len() == 0 && args[0] != "serve" {
						t.Errorf("%v %v: nothing is said", args, env)
					}
				}
				try(append(args, c.flag, value), env)
				if c.env != "" && args[0] != "serve" {
					try(args, append(env, c.env+"="+value))
				}
			}
		}
	}
}
