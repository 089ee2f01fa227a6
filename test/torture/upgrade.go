//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"berth/migrations"
)

// added is what the migration of the next program adds to every table, as a release may that lets
// servers of the one before go on.
const added = `ALTER TABLE %[1]s ADD COLUMN later_text text;
ALTER TABLE %[1]s ADD COLUMN later_count bigint NOT NULL DEFAULT 7;
`

var createsTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+) \(`)

// buildNext builds the program of the next release: this tree with one more migration.
func buildNext(ctx context.Context, o options) (string, error) {
	known, err := migrations.Postgres.Newest()
	if err != nil {
		return "", err
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "migrations", "postgres")
	tables := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(folder, "*.up.sql"))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		for _, m := range createsTable.FindAllStringSubmatch(string(text), -1) {
			tables[m[1]] = true
		}
	}
	up, down := "CREATE TABLE later (id text PRIMARY KEY);\nCREATE INDEX decisions_later ON decisions (cluster, later_count);\n", "DROP TABLE later;\nDROP INDEX decisions_later;\n"
	columns := ""
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		columns += fmt.Sprintf(added, table)
		down += fmt.Sprintf("ALTER TABLE %[1]s DROP COLUMN later_text;\nALTER TABLE %[1]s DROP COLUMN later_count;\n", table)
	}
	var overlay struct{ Replace map[string]string }
	if o.Overlay != "" {
		raw, err := os.ReadFile(o.Overlay)
		if err == nil {
			err = json.Unmarshal(raw, &overlay)
		}
		if err != nil {
			return "", fmt.Errorf("--overlay: %w", err)
		}
	}
	if overlay.Replace == nil {
		overlay.Replace = map[string]string{}
	}
	for direction, text := range map[string]string{"up": columns + up, "down": down} {
		name := fmt.Sprintf("%04d_later.%s.sql", known+1, direction)
		overlay.Replace[filepath.Join(folder, name)] = filepath.Join(o.Dir, name)
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	o.Overlay = filepath.Join(o.Dir, "next.json")
	if err := os.WriteFile(o.Overlay, raw, 0o600); err != nil {
		return "", err
	}
	return build(ctx, o, "next")
}

// migrateNext brings the schema to that of the next program, beneath the servers of this one.
func (p *place) migrateNext(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, p.next, "migrate", "up", "--database-url", p.pg.url()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("migrate up beneath the servers: %w\n%s", err, out)
	}
	return nil
}

// turnTo ends a replica in order and starts the other program in its place. A way down is refused
// before, since servers run.
func (p *place) turnTo(ctx context.Context, r *replica, program string) error {
	out, err := exec.CommandContext(ctx, p.next, "migrate", "--servers-timeout", "1ms", "down", "--to", "0", "--database-url", p.pg.url()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "servers still run") {
		return fmt.Errorf("migrate down beside servers: %w\n%s", err, out)
	}
	r.mu.Lock()
	r.program = program
	r.mu.Unlock()
	return r.turn(ctx)
}
