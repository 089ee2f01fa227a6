-- What was answered again, who was refused, and when a seal was written, as PostgreSQL has it.
-- Times are microseconds since 1970, UTC.

CREATE TABLE replay_results (
  cluster        TEXT    NOT NULL,
  decision_id    TEXT    NOT NULL,
  replay         TEXT    NOT NULL, -- UUIDv7: of the replay, or of the batch
  batch          INTEGER NOT NULL,
  seq            INTEGER,          -- the decision's; NULL: it was gone
  identical      INTEGER NOT NULL,
  differences    INTEGER,          -- NULL: there was no answer
  overrides      TEXT    NOT NULL, -- what was not as recorded; ''
  semantics      TEXT    NOT NULL, -- of the server
  profile_digest TEXT,
  asked_by       TEXT,
  peer           TEXT,
  request_id     TEXT,
  created_at     INTEGER NOT NULL,
  PRIMARY KEY (cluster, decision_id, replay)
) STRICT, WITHOUT ROWID;
CREATE INDEX replay_results_by_time ON replay_results (created_at);

CREATE TABLE replay_runs (
  cluster     TEXT    NOT NULL,
  id          TEXT    NOT NULL,
  state       TEXT    NOT NULL,
  since       INTEGER NOT NULL,
  until       INTEGER NOT NULL,
  through_seq INTEGER,
  overrides   TEXT    NOT NULL,
  semantics   TEXT,
  total       INTEGER NOT NULL,
  identical   INTEGER NOT NULL,
  different   INTEGER NOT NULL,
  errors      INTEGER NOT NULL,
  asked_by    TEXT,
  created_at  INTEGER NOT NULL,
  ended_at    INTEGER,
  PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;

ALTER TABLE replays ADD COLUMN through_seq INTEGER; -- NULL: of earlier releases
ALTER TABLE replays ADD COLUMN semantics TEXT;      -- of the server that made it; NULL likewise

CREATE TABLE denials (
  minute   INTEGER NOT NULL,
  instance TEXT    NOT NULL,
  cluster  TEXT    NOT NULL, -- '': of none
  caller   TEXT    NOT NULL, -- who asked, or the address; '' where the row counts what was cut
  route    TEXT    NOT NULL,
  status   INTEGER NOT NULL,
  reason   TEXT    NOT NULL,
  asked_by TEXT,             -- NULL: the caller did not prove who it is
  peer     TEXT,
  count    INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at  INTEGER NOT NULL,
  PRIMARY KEY (minute, instance, cluster, caller, route, status, reason)
) STRICT, WITHOUT ROWID;

ALTER TABLE seals ADD COLUMN created_at INTEGER; -- beside the hash; NULL: of earlier releases
