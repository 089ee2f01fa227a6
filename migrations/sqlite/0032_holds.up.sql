-- Holds: placements whose pods are on their nodes until a time, as PostgreSQL has them. Times are
-- microseconds since 1970, UTC.

CREATE TABLE placement_holds (
  id             TEXT    NOT NULL PRIMARY KEY,
  cluster        TEXT    NOT NULL,
  state          TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL,
  ended_at       INTEGER,
  revision       INTEGER NOT NULL,
  ended_revision INTEGER,
  namespaces     TEXT    NOT NULL,
  pod_count      INTEGER NOT NULL,
  pods           TEXT    NOT NULL,
  undo           BLOB    NOT NULL,
  asked_by       TEXT,
  ended_by       TEXT
) STRICT;
CREATE INDEX placement_holds_by_cluster ON placement_holds (cluster, id);
CREATE INDEX placement_holds_due ON placement_holds (expires_at, id) WHERE state = 'held';
CREATE INDEX placement_holds_held ON placement_holds (cluster, expires_at, id) WHERE state = 'held';
CREATE INDEX placement_holds_ended ON placement_holds (ended_at);
