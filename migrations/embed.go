// Package migrations holds the numbered SQL that makes and changes a store's
// schema, up and down, one folder per dialect. The same number means the same
// change in every dialect, so that "schema 3" says one thing wherever it is
// read.
package migrations

import "embed"

// SQLite holds the files of the embedded store under the folder "sqlite".
//
// Each file runs in one transaction and so holds no BEGIN or COMMIT, and each
// ends by setting PRAGMA user_version to the schema version that it leaves
// behind. That pragma is part of the transaction, and so tells after a crash
// whether the file took effect.
//
//go:embed sqlite/*.sql
var SQLite embed.FS

// Postgres holds the files of the shared store under the folder "postgres".
//
// Each file is sent as one query and so is one transaction, without BEGIN or
// COMMIT. Each ends by setting schema_version, which tells after a crash
// whether the file took effect, as the pragma does for SQLite. Names are not
// qualified: everything goes to the first schema of the search path.
//
//go:embed postgres/*.sql
var Postgres embed.FS
