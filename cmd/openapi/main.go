// Command openapi writes api/openapi.yaml and client/ts/types.ts from the annotations of berth's
// handlers. Run it from the repository's root:
//
//	go run ./cmd/openapi
//
//	@title			berth
//	@version		v1
//	@description	Scheduling decisions with the semantics of Kubernetes v1.36: explained, recorded, replayable.
//	@description	Times are RFC 3339 in UTC, ids of decisions are UUIDv7, errors are application/problem+json (RFC 9457). Kubernetes objects go in and out in their own JSON.
//	@description	In examples, B is the server's address and the cluster demo is the one that docs/api.md makes.
//	@license.name	Apache-2.0
//	@license.url	https://www.apache.org/licenses/LICENSE-2.0
//	@BasePath		/
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

// run writes the description into the repository at root.
func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, 0o644); err != nil {
			return fmt.Errorf("write the description: %w", err)
		}
	}
	return nil
}
