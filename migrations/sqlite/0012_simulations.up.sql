-- Questions about what comes next that outlast a call: jobs that the database keeps. A revision
-- stays while a job of it is there.

CREATE TABLE simulations (
  cluster     TEXT    NOT NULL,
  id          TEXT    NOT NULL,             -- UUIDv7
  revision    INTEGER NOT NULL,
  kind        TEXT    NOT NULL,             -- the last part of the path that it was asked by
  state       TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'done', 'cancelled', 'failed')),
  created_at  INTEGER NOT NULL,             -- microseconds since 1970, UTC
  ended_at    INTEGER,                      -- NULL: not yet
  reason      TEXT    NOT NULL DEFAULT '',  -- why it failed
  progress    TEXT    NOT NULL DEFAULT '',  -- JSON
  owner       TEXT    NOT NULL DEFAULT '',  -- the claim that works on it
  lease_until INTEGER NOT NULL DEFAULT 0,
  attempts    INTEGER NOT NULL DEFAULT 0,   -- claims since the last part
  PRIMARY KEY (cluster, id),
  FOREIGN KEY (cluster, revision) REFERENCES revisions (cluster, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX simulations_by_id ON simulations (id);
CREATE INDEX simulations_unfinished ON simulations (id) WHERE state IN ('queued', 'running');
CREATE INDEX simulations_by_revision ON simulations (cluster, revision);

-- The question, what is finished of the answer, and the answer.
CREATE TABLE simulation_parts (
  cluster    TEXT NOT NULL,
  simulation TEXT NOT NULL,
  part       TEXT NOT NULL,
  payload    BLOB NOT NULL,
  PRIMARY KEY (cluster, simulation, part),
  FOREIGN KEY (cluster, simulation) REFERENCES simulations (cluster, id) ON DELETE CASCADE
) STRICT;
