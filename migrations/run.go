package migrations

import (
	"errors"

	"github.com/golang-migrate/migrate/v4"
)

// Run brings a schema from version have to want, 0 standing for none. It first
// puts the library's own note right: that marks a version dirty before
// running its file and clean after it, so a kill between the two would keep the
// server down for good, though the file took effect whole or not at all. The
// schema's own version, set inside the file's transaction, says which.
func Run(m *migrate.Migrate, have, want int) error {
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
