-- Questions about what comes next that outlast a call: jobs that the database keeps, the same as in
-- the embedded store. A revision stays while a job of it is there.

CREATE TABLE simulations (
  cluster     text        COLLATE "C" NOT NULL,
  id          text        COLLATE "C" NOT NULL, -- UUIDv7
  revision    bigint      NOT NULL,
  kind        text        NOT NULL,             -- the last part of the path that it was asked by
  state       text        NOT NULL CHECK (state IN ('queued', 'running', 'done', 'cancelled', 'failed')),
  created_at  timestamptz NOT NULL,
  ended_at    timestamptz,                      -- NULL: not yet
  reason      text        NOT NULL DEFAULT '',  -- why it failed
  progress    text        NOT NULL DEFAULT '',  -- JSON
  owner       text        NOT NULL DEFAULT '',  -- the claim that works on it
  lease_until timestamptz NOT NULL DEFAULT 'epoch',
  attempts    integer     NOT NULL DEFAULT 0,   -- claims since the last part
  PRIMARY KEY (cluster, id),
  FOREIGN KEY (cluster, revision) REFERENCES revisions (cluster, number) ON DELETE CASCADE
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX simulations_by_id ON simulations (id);
CREATE INDEX simulations_unfinished ON simulations (id) WHERE state IN ('queued', 'running');
CREATE INDEX simulations_by_revision ON simulations (cluster, revision);

-- The question, what is finished of the answer, and the answer.
CREATE TABLE simulation_parts (
  cluster    text  COLLATE "C" NOT NULL,
  simulation text  COLLATE "C" NOT NULL,
  part       text  COLLATE "C" NOT NULL,
  payload    bytea NOT NULL,
  PRIMARY KEY (cluster, simulation, part),
  FOREIGN KEY (cluster, simulation) REFERENCES simulations (cluster, id) ON DELETE CASCADE
);
