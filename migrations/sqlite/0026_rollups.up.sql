-- Sums of the decision log by the hour, and the stretches of time in which pods waited. All follow
-- from the log: a server adds what is new to them, by the places of the log, and the row of a
-- cluster in rollups says how far they are. Times are microseconds since 1970, UTC.

CREATE TABLE rollups (
  cluster     TEXT    NOT NULL PRIMARY KEY,
  seq         INTEGER NOT NULL DEFAULT 0, -- the last place of the log that is in the sums
  revision    INTEGER NOT NULL DEFAULT 0, -- the last revision whose changes of pods are in waits
  built       INTEGER NOT NULL DEFAULT 0, -- how often they were begun anew
  -- Of the places up to skip_to the records before skip_before are not counted: the hours before it
  -- stayed when the sums were begun anew, since part of their records was deleted for its age.
  skip_to     INTEGER NOT NULL DEFAULT 0,
  skip_before INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE hourly_decisions (
  cluster   TEXT    NOT NULL,
  hour      INTEGER NOT NULL,
  verb      TEXT    NOT NULL,
  outcome   TEXT    NOT NULL,
  purpose   TEXT    NOT NULL, -- '': not known
  namespace TEXT    NOT NULL,
  stamp     INTEGER NOT NULL,
  decisions INTEGER NOT NULL,
  bound     INTEGER NOT NULL, -- of them, those that made a revision
  first_at  INTEGER NOT NULL,
  last_at   INTEGER NOT NULL,
  PRIMARY KEY (cluster, hour, verb, outcome, purpose, namespace, stamp)
) STRICT, WITHOUT ROWID;

-- Of live attempts alone. The row whose pool is (all) is of all nodes; the others count the same
-- nodes by pool, (unknown) where the record does not.
CREATE TABLE hourly_failures (
  cluster        TEXT    NOT NULL,
  hour           INTEGER NOT NULL,
  namespace      TEXT    NOT NULL,
  plugin         TEXT    NOT NULL,
  code           TEXT    NOT NULL,
  reason_key     BLOB    NOT NULL, -- of reason, which may be long
  pool           TEXT    NOT NULL,
  reason         TEXT    NOT NULL,
  decisions      INTEGER NOT NULL,
  nodes          INTEGER NOT NULL,
  unplaced       INTEGER NOT NULL, -- of the decisions, those that found no node
  unplaced_nodes INTEGER NOT NULL,
  PRIMARY KEY (cluster, hour, namespace, plugin, code, reason_key, pool)
) STRICT, WITHOUT ROWID;

CREATE TABLE hourly_placements (
  cluster    TEXT    NOT NULL,
  hour       INTEGER NOT NULL,
  node       TEXT    NOT NULL,
  namespace  TEXT    NOT NULL,
  placements INTEGER NOT NULL,
  PRIMARY KEY (cluster, hour, node, namespace)
) STRICT, WITHOUT ROWID;

CREATE TABLE hourly_durations (
  cluster      TEXT    NOT NULL,
  hour         INTEGER NOT NULL,
  verb         TEXT    NOT NULL,
  upto_micros  INTEGER NOT NULL, -- the bucket: over_micros < duration <= upto_micros
  over_micros  INTEGER NOT NULL,
  decisions    INTEGER NOT NULL,
  total_micros INTEGER NOT NULL,
  max_micros   INTEGER NOT NULL,
  PRIMARY KEY (cluster, hour, verb, upto_micros)
) STRICT, WITHOUT ROWID;

CREATE TABLE waits (
  cluster   TEXT    NOT NULL,
  namespace TEXT    NOT NULL,
  pod       TEXT    NOT NULL,
  pod_uid   TEXT    NOT NULL,
  since     INTEGER NOT NULL,
  cause     TEXT    NOT NULL, -- a plugin
  until     INTEGER,          -- NULL: it waits
  seen      INTEGER NOT NULL, -- the newest record that says so
  PRIMARY KEY (cluster, pod, namespace, pod_uid, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX waits_by_time ON waits (cluster, until);
