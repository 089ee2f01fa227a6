// Package overlay makes copies of upstream's plugin packages that record what
// their tests do, without a file being written into the project: go is told by
// -overlay that a directory of this module holds them. Sources are upstream's own
// in the module cache, read and changed when the overlay is made.
package overlay

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Home is the directory of this module that the copies appear in.
const Home = "upstream"

// Make instruments the packages, which are directories below plugins (the
// module cache's scheduler/framework/plugins). Files that change are written to
// tmp, and so is the overlay, whose path it gives. root is this module's.
func Make(root, plugins, tmp string, packages []string) (string, error) {
	replace := map[string]string{}
	for _, pkg := range packages {
		entries, err := os.ReadDir(filepath.Join(plugins, pkg))
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() || !strings.HasSuffix(name, ".go") {
				continue
			}
			from := filepath.Join(plugins, pkg, name)
			src, err := os.ReadFile(from)
			if err != nil {
				return "", err
			}
			out, err := Instrument(name, src)
			if err != nil {
				return "", fmt.Errorf("%s/%s: %w", pkg, name, err)
			}
			to := from
			if out != nil {
				to = filepath.Join(tmp, pkg, name)
				if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
					return "", err
				}
				if err := os.WriteFile(to, out, 0o644); err != nil {
					return "", err
				}
			}
			replace[filepath.Join(root, Home, pkg, name)] = to
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(tmp, "overlay.json")
	return path, os.WriteFile(path, raw, 0o644)
}
