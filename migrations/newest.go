package migrations

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/golang-migrate/migrate/v4/source/iofs"
)

// Newest returns the number of the last migration in a dialect's folder, such as
// "sqlite" of SQLite.
func Newest(files fs.FS, folder string) (int, error) {
	source, err := iofs.New(files, folder)
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
