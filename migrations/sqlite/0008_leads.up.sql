-- Which server follows which cluster's apiserver and writes what it sees, and
-- how fresh that was. A row is a lease. Times are microseconds since 1970.

CREATE TABLE leads (
  cluster  TEXT PRIMARY KEY,
  owner    TEXT    NOT NULL,
  synced   INTEGER NOT NULL,
  stale_ms INTEGER NOT NULL CHECK (stale_ms >= 0),
  renewed  INTEGER NOT NULL,
  until    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 8;
