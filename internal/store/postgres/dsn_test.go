package postgres

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestNothingOfAPasswordIsSaid: a password that is not percent-encoded ends where its URL's host is
// read, and the rest of it was in the error.
func TestNothingOfAPasswordIsSaid(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, address := range []string{
		"postgres://app:xq@zvk#w/rd@127.0.0.1:1/appdb", "postgres://app:xq@zvk@127.0.0.1:1/appdb", "postgresql://app:xq#zvk@127.0.0.1:1/appdb",
		"postgres://app:xq/zvk@127.0.0.1:1/appdb", "postgres://app:xq?zvk@127.0.0.1:1/appdb", "postgres://app:xq:zvk@127.0.0.1:1/appdb",
		"postgres://app:xq%zvk@127.0.0.1:1/appdb", "postgres://app:xq zvk@127.0.0.1:1/appdb", "postgres://app:xq[zvk@127.0.0.1:1/appdb",
		"postgres://app:12/zvk@127.0.0.1:1/appdb", "postgres://app:12?zvk@127.0.0.1:1/appdb",
		"postgres://127.0.0.1:x/appdb?user=app&password=xqzvk", "postgres://app:xqzvk@127.0.0.1:1/appdb?sslmode=odd",
		"host=127.0.0.1 port=1 user=app password=xq zvk dbname=d", "host=127.0.0.1 port=x user=app password='xq zvk' dbname=d",
		"host=127.0.0.1 port=1 user=app password=xqzvk dbname=d",
	} {
		for name, open := range map[string]func() error{
			"open":    func() error { _, err := Open(ctx, address, Options{ConnectTimeout: time.Second}); return err },
			"status":  func() error { _, err := MigrateStatus(ctx, address); return err },
			"migrate": func() error { return MigrateTo(ctx, address, 1, MigrateOptions{}) },
			"examine": func() error { _, err := Examine(ctx, address); return err },
		} {
			err := open()
			if err == nil {
				t.Fatalf("%s %s: no error", name, address)
			}
			for _, part := range []string{"xq", "zvk", "w/rd", ":12"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("%s %s: %v", name, address, err)
				}
			}
		}
	}
	for _, fine := range []string{
		"postgres://app:p%40ss%23w%2Frd@127.0.0.1:1/appdb", "postgres://127.0.0.1:1/appdb?application_name=a@b", "postgres://a:b@h1:1,h2:2/d?target_session_attrs=read-write",
		"postgres://[::1]:5432/d", "postgres:///d?host=/tmp", "host=/tmp dbname=d password=x",
	} {
		if _, err := parse(fine); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}
