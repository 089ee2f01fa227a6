package migrations

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source/iofs"
)

// Latest stands for the newest version that this program knows.
const Latest = -1

// Schema is what a schema says of itself.
type Schema struct {
	Version int // 0: no schema yet
	// Serves is the oldest version whose programs work with it; 0: that of Version alone.
	Serves int
}

// Works reports whether a program whose newest version is known works with the schema.
func (s Schema) Works(known int) bool {
	return s.Version == known || s.Version > known && s.Serves > 0 && s.Serves <= known
}

// Status tells where a store's schema stands.
type Status struct {
	Schema
	Latest int // the newest that this program knows
}

// Newest returns the number of a dialect's last migration.
func (d Dialect) Newest() (int, error) {
	source, err := iofs.New(d, ".")
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	version, err := source.First()
	for err == nil {
		var next uint
		if next, err = source.Next(version); err == nil {
			version = next
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	return int(version), source.Close()
}

// Reachable returns an error where no migrations lead from version have to want.
func Reachable(have, want int) error {
	switch {
	case have > 0 && have < Oldest:
		return fmt.Errorf("schema %d is older than that of v0.3.0, which is %d: migrate it with v0.3.0 first", have, Oldest)
	case want > 0 && want < Oldest:
		return fmt.Errorf("there is no schema %d: the oldest is %d, that of v0.3.0, and 0 takes everything away", want, Oldest)
	}
	return nil
}

// Beginnings is the migration before which chains of older releases get their seals of beginning.
const Beginnings = 18

// Requests is the migration before which PostgreSQL's partitions get their indexes by request,
// beside writers.
const Requests = 22

// Steps are what SQL alone cannot do: each is run before the migration of its number. One that was
// cut off by a kill is run again, since the version is still the one before.
type Steps map[int]func() error

// Run brings a schema from version have to want, 0 standing for none, and at
// the newest version puts the views in place, unless current, where it is not
// nil, reports that they are. It closes target.
func (d Dialect) Run(target database.Driver, have, want int, steps Steps, current func(views string) (bool, error)) (err error) {
	newest, err := d.Newest()
	if err != nil {
		return errors.Join(err, target.Close())
	}
	source, err := iofs.New(d, ".")
	if err != nil {
		return errors.Join(fmt.Errorf("read migrations: %w", err), target.Close())
	}
	m, err := migrate.NewWithInstance("iofs", source, d.folder, target)
	if err != nil {
		return errors.Join(err, target.Close(), source.Close())
	}
	defer func() {
		sourceErr, targetErr := m.Close()
		err = errors.Join(err, sourceErr, targetErr)
	}()
	views, drop, err := d.views()
	if err != nil {
		return err
	}
	// Views read columns that a way down takes away.
	if want < have {
		if err := target.Run(strings.NewReader(drop)); err != nil {
			return fmt.Errorf("drop views: %w", Brief(err))
		}
	}
	for _, n := range slices.Sorted(maps.Keys(steps)) {
		if n <= have || n > want {
			continue
		}
		if err := migrateTo(m, have, n-1); err != nil {
			return Brief(err)
		}
		have = n - 1
		if err := steps[n](); err != nil {
			return fmt.Errorf("before version %d: %w", n, err)
		}
	}
	if err := migrateTo(m, have, want); err != nil {
		return Brief(err)
	}
	if want != newest {
		return nil
	}
	if current != nil {
		if is, err := current(views); is || err != nil {
			return err
		}
	}
	if d.folder == SQLite.folder { // has no CREATE OR REPLACE
		views = drop + views
	}
	docs, err := d.docs()
	if err != nil {
		return err
	}
	if err := target.Run(strings.NewReader(views + docs)); err != nil {
		return fmt.Errorf("make views: %w", Brief(err))
	}
	return nil
}

// Brief returns what the database said, without the file that it said it of: the library prints
// that whole, and hides the driver's own error behind it.
func Brief(err error) error {
	var of *database.Error
	var or database.Error
	switch {
	case errors.As(err, &of):
		or = *of
	case !errors.As(err, &or):
		return err
	}
	if or.OrigErr == nil {
		return err
	}
	if or.Line > 0 {
		return fmt.Errorf("line %d: %w", or.Line, or.OrigErr)
	}
	return or.OrigErr
}

// migrateTo first corrects the library's own record. The library marks a version dirty before
// running its file and clean after it, so a kill between the two would keep the server down
// forever, though the file took effect whole or not at all. The schema's own version, set inside
// the file's transaction, shows which.
func migrateTo(m *migrate.Migrate, have, want int) error {
	noted, dirty, err := m.Version()
	if err != nil && !errors.Is(err, migrate.ErrNilVersion) {
		return err
	}
	if dirty || int(noted) != have {
		force := have
		if have == 0 {
			force = -1 // the library's word for no version
		}
		if err := m.Force(force); err != nil {
			return err
		}
	}
	if have == want {
		return nil
	}
	if want == 0 {
		return m.Down()
	}
	return m.Migrate(uint(want))
}
