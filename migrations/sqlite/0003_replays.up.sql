-- Batch replays: jobs that the database keeps, in parts of revisions.

CREATE TABLE replays (
  cluster    TEXT    NOT NULL,
  id         TEXT    NOT NULL,            -- UUIDv7
  state      TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'done', 'cancelled', 'failed')),
  since      INTEGER NOT NULL,            -- microseconds since 1970, UTC, inclusive
  until      INTEGER NOT NULL,            -- likewise, exclusive
  profile    TEXT    NOT NULL,            -- '': as recorded
  config     BLOB,                        -- NULL: as recorded
  created_at INTEGER NOT NULL,
  ended_at   INTEGER,                     -- NULL: not yet
  reason     TEXT    NOT NULL DEFAULT '', -- why it failed
  PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX replays_by_id ON replays (id);
CREATE INDEX replays_unfinished ON replays (id) WHERE state IN ('queued', 'running');

-- A part's cursor is the last decision that its counters count; both change in
-- one statement.
CREATE TABLE replay_parts (
  cluster         TEXT    NOT NULL,
  replay          TEXT    NOT NULL,
  part            INTEGER NOT NULL,
  first           INTEGER NOT NULL,       -- revisions, both inclusive
  last            INTEGER NOT NULL,
  state           TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'done')),
  owner           TEXT    NOT NULL DEFAULT '', -- the claim that works on it
  lease_until     INTEGER NOT NULL DEFAULT 0,
  attempts        INTEGER NOT NULL DEFAULT 0,  -- claims since the last progress
  cursor_revision INTEGER NOT NULL DEFAULT 0,
  cursor_at       INTEGER NOT NULL DEFAULT 0,
  cursor_id       TEXT    NOT NULL DEFAULT '',
  total           INTEGER NOT NULL,
  done            INTEGER NOT NULL DEFAULT 0,
  identical       INTEGER NOT NULL DEFAULT 0,
  different       INTEGER NOT NULL DEFAULT 0,
  errors          INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (cluster, replay, part),
  FOREIGN KEY (cluster, replay) REFERENCES replays (cluster, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE replay_differences (
  cluster     TEXT    NOT NULL,
  replay      TEXT    NOT NULL,
  revision    INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,           -- the decision's
  decision_id TEXT    NOT NULL,
  payload     TEXT    NOT NULL,           -- JSON
  PRIMARY KEY (cluster, replay, revision, created_at, decision_id),
  FOREIGN KEY (cluster, replay) REFERENCES replays (cluster, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- In the order in which a part goes through them.
DROP INDEX decisions_by_revision;
CREATE INDEX decisions_by_revision ON decisions (cluster, revision, created_at, id);

PRAGMA user_version = 3;
