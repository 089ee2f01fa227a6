-- What the log says of its own gaps: decisions that were answered and are not
-- on record, as --audit=relaxed allows. lost NULL: nobody could count, since
-- the process was killed.
CREATE TABLE decision_gaps (
  cluster  TEXT    NOT NULL,
  id       TEXT    NOT NULL,              -- UUIDv7
  since    INTEGER NOT NULL,              -- microseconds since 1970, UTC
  until    INTEGER NOT NULL,
  lost     INTEGER CHECK (lost > 0),
  cause    TEXT    NOT NULL,              -- queue-full, store, killed
  instance TEXT    NOT NULL,              -- the process that lost them
  PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX decision_gaps_by_time ON decision_gaps (cluster, until, id);

CREATE VIEW decision_gaps_log AS
SELECT cluster,
       strftime('%Y-%m-%dT%H:%M:%S', since / 1000000, 'unixepoch') || printf('.%06dZ', since % 1000000) AS time,
       strftime('%Y-%m-%dT%H:%M:%S', until / 1000000, 'unixepoch') || printf('.%06dZ', until % 1000000) AS until_time,
       lost, cause, instance, id, since, until
FROM decision_gaps;

PRAGMA user_version = 2;
