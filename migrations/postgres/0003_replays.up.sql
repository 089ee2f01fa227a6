-- Batch replays: jobs that the database keeps, in parts of revisions, the same
-- as in the embedded store.

CREATE TABLE replays (
  cluster    text        COLLATE "C" NOT NULL,
  id         text        COLLATE "C" NOT NULL, -- UUIDv7
  state      text        NOT NULL CHECK (state IN ('queued', 'running', 'done', 'cancelled', 'failed')),
  since      timestamptz NOT NULL,        -- inclusive
  until      timestamptz NOT NULL,        -- exclusive
  profile    text        NOT NULL,        -- '': as recorded
  config     bytea,                       -- NULL: as recorded
  created_at timestamptz NOT NULL,
  ended_at   timestamptz,                 -- NULL: not yet
  reason     text        NOT NULL DEFAULT '', -- why it failed
  PRIMARY KEY (cluster, id)
);

CREATE UNIQUE INDEX replays_by_id ON replays (id);
CREATE INDEX replays_unfinished ON replays (id) WHERE state IN ('queued', 'running');

-- A part's cursor is the last decision that its counters count; both change in
-- one statement.
CREATE TABLE replay_parts (
  cluster         text        COLLATE "C" NOT NULL,
  replay          text        COLLATE "C" NOT NULL,
  part            integer     NOT NULL,
  first           bigint      NOT NULL,   -- revisions, both inclusive
  last            bigint      NOT NULL,
  state           text        NOT NULL CHECK (state IN ('queued', 'running', 'done')),
  owner           text        NOT NULL DEFAULT '', -- the claim that works on it
  lease_until     timestamptz NOT NULL DEFAULT 'epoch',
  attempts        integer     NOT NULL DEFAULT 0,  -- claims since the last progress
  cursor_revision bigint      NOT NULL DEFAULT 0,
  cursor_at       timestamptz NOT NULL DEFAULT 'epoch',
  cursor_id       text        COLLATE "C" NOT NULL DEFAULT '',
  total           bigint      NOT NULL,
  done            bigint      NOT NULL DEFAULT 0,
  identical       bigint      NOT NULL DEFAULT 0,
  different       bigint      NOT NULL DEFAULT 0,
  errors          bigint      NOT NULL DEFAULT 0,
  PRIMARY KEY (cluster, replay, part),
  FOREIGN KEY (cluster, replay) REFERENCES replays (cluster, id) ON DELETE CASCADE
) WITH (fillfactor = 70);

CREATE TABLE replay_differences (
  cluster     text        COLLATE "C" NOT NULL,
  replay      text        COLLATE "C" NOT NULL,
  revision    bigint      NOT NULL,
  created_at  timestamptz NOT NULL,       -- the decision's
  decision_id text        COLLATE "C" NOT NULL,
  payload     text        NOT NULL,       -- JSON
  PRIMARY KEY (cluster, replay, revision, created_at, decision_id),
  FOREIGN KEY (cluster, replay) REFERENCES replays (cluster, id) ON DELETE CASCADE
);

-- In the order in which a part goes through them.
DROP INDEX decisions_by_revision;
CREATE INDEX decisions_by_revision ON decisions (cluster, revision, created_at, id);

UPDATE schema_version SET version = 3;
