-- The schema of v0.3.0, the first release: what the embedded store has, where the dialects allow.
-- The file is one query, without BEGIN or COMMIT. The views stand in views.sql, which is run after
-- the migrations.

-- Which migration has taken effect; each writes it at its end.
CREATE TABLE schema_version (
  version integer NOT NULL
);
INSERT INTO schema_version VALUES (0);

-- One row a cluster: the head of its chain of revisions and its books, kept in
-- the same transaction as what they count. Every write takes this row's lock
-- first, and so the writers of all replicas take turns, cluster by cluster.
CREATE TABLE clusters (
  cluster   text   COLLATE "C" NOT NULL PRIMARY KEY,
  newest    bigint NOT NULL DEFAULT 0,   -- number of the newest revision, 0: none
  token     text   NOT NULL DEFAULT '',  -- its token
  revisions bigint NOT NULL DEFAULT 0,
  decisions bigint NOT NULL DEFAULT 0,
  -- The last place given in the log. It never goes back: the row of a cluster that had decisions
  -- stays where the cluster is deleted, for those who follow it.
  last_seq  bigint NOT NULL DEFAULT 0,
  seals     bigint NOT NULL DEFAULT 0,   -- where the hash chain ends
  seal_hash bytea  NOT NULL DEFAULT ''
) WITH (fillfactor = 50); -- rows that are updated all the time, within their page

-- The unique parent makes the chain linear whatever the program does: no
-- revision can have two children.
CREATE TABLE revisions (
  cluster      text        COLLATE "C" NOT NULL,
  number       bigint      NOT NULL CHECK (number > 0),
  token        text        COLLATE "C" NOT NULL CHECK (token <> ''),
  parent_token text        COLLATE "C" NOT NULL,
  created_at   timestamptz NOT NULL,
  digest       text        NOT NULL,
  cause        text        NOT NULL,
  change       bytea,                    -- NULL: the state was replaced, see checkpoints
  summary      text,                     -- JSON
  asked_by     text,
  peer         text,
  request_id   text,
  PRIMARY KEY (cluster, number),
  UNIQUE (cluster, parent_token)
);
-- Which revision was the newest at a time.
CREATE INDEX revisions_by_time ON revisions (cluster, created_at, number);

CREATE TABLE checkpoints (
  cluster text   COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  payload bytea  NOT NULL,
  PRIMARY KEY (cluster, number),
  FOREIGN KEY (cluster, number) REFERENCES revisions (cluster, number) ON DELETE CASCADE
);
-- Changes and checkpoints come compressed: a second attempt costs time only.
ALTER TABLE revisions ALTER COLUMN change SET STORAGE EXTERNAL;
ALTER TABLE checkpoints ALTER COLUMN payload SET STORAGE EXTERNAL;

-- Profiles belong to no cluster: their digest names their content.
CREATE TABLE profiles (
  digest  text  COLLATE "C" NOT NULL PRIMARY KEY,
  name    text  NOT NULL,
  payload bytea NOT NULL
);

-- profile to plugins are what decisions have in common. plugins is the JSON list
-- [[name, weight]…] that a decision's scores refer to by place; '' where they
-- name the plugins themselves, as records before this version do.
CREATE TABLE stamps (
  id             integer NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  profile        text    NOT NULL,
  profile_digest text    NOT NULL,
  engine         text    NOT NULL,
  semantics      text    NOT NULL,
  plugins        text    NOT NULL
);
-- By digest, since together they may be longer than an index takes.
CREATE UNIQUE INDEX stamps_by_content ON stamps (md5(profile), profile_digest, engine, semantics, md5(plugins));

-- The decision log, a partition a month of created_at (UTC), which the program
-- makes ahead; what comes for a month that has none goes to decisions_default,
-- so that no record is ever refused. failures, scores and victims are JSON
-- arrays of arrays in text, since checking them again as jsonb halves the speed
-- of writing; read them through the views decision_failures, decision_scores
-- and decision_victims.
--
-- A partitioned table cannot hold id alone unique. The key holds a record's
-- retry off; the same id with another time is kept out by the writer, which
-- looks for it under the lock of the cluster's row.
--
-- A digest sha256:… is its 32 bytes and a UUID its 16. Any other text is its own
-- bytes, and one byte 1 more where it is as long as the short form, but for
-- bytes 1 at its end. The columns of one width come first: between others they
-- would be padded.
CREATE TABLE decisions (
  created_at      timestamptz NOT NULL,
  decided_as_of   timestamptz NOT NULL,   -- the time that the engine was given
  revision        bigint      NOT NULL,
  bound_revision  bigint      NOT NULL,   -- the revision that a bind made, 0: none
  nodes_total     bigint      NOT NULL,
  nodes_feasible  bigint      NOT NULL,
  duration_micros bigint      NOT NULL,
  priority        integer     NOT NULL,
  stamp           integer     NOT NULL,   -- see stamps
  cluster         text        COLLATE "C" NOT NULL,
  id              text        COLLATE "C" NOT NULL, -- UUIDv7
  verb            text        NOT NULL,
  outcome         text        NOT NULL,
  namespace       text        NOT NULL,
  pod             text        COLLATE "C" NOT NULL,
  pod_uid         bytea       NOT NULL,
  node            text        COLLATE "C" NOT NULL,
  nominated_node  text        NOT NULL,
  message         text        NOT NULL,
  snapshot_digest bytea       NOT NULL,
  pod_digest      bytea       NOT NULL,
  answer_digest   bytea       NOT NULL,
  failures        text,                   -- [[plugin, code, reason, nodes, [name…], prefix, suffix]…], code 1: Unschedulable, 2: UnschedulableAndUnresolvable
  scores          text,                   -- [[rank, node, total, [raw or [raw, normalized]…]]…], the plugins by place in the stamp
  victims         text,                   -- [[namespace, pod, uid, priority, node]…]
  input           bytea,                  -- what a replay needs beside the revision
  seq             bigint      NOT NULL,   -- the place in the log, given when the record is committed
  mode            text        NOT NULL DEFAULT '', -- how the answer was used
  stale_ms        bigint,                 -- how long the state may have missed what happened; NULL: not followed
  asked_by        text,
  peer            text,
  request_id      text,
  PRIMARY KEY (cluster, created_at, id)   -- the list newest first, too
) PARTITION BY RANGE (created_at);
-- Inputs come compressed.
ALTER TABLE decisions ALTER COLUMN input SET STORAGE EXTERNAL;

CREATE TABLE decisions_default PARTITION OF decisions DEFAULT;

CREATE INDEX decisions_by_id ON decisions (id);
CREATE INDEX decisions_by_pod ON decisions (cluster, pod, created_at);
CREATE INDEX decisions_by_node ON decisions (cluster, node, created_at) WHERE node <> '';
CREATE INDEX decisions_by_revision ON decisions (cluster, revision, created_at, id);
CREATE INDEX decisions_by_bound_revision ON decisions (cluster, bound_revision) WHERE bound_revision > 0;
-- A reader of the log who goes on after the last place that it saw misses nothing: created_at is
-- when the answer was made, and records come in late and out of that order.
CREATE INDEX decisions_by_seq ON decisions (cluster, seq);

-- What the log says of its own gaps: decisions that were answered and are not on record. lost NULL:
-- they could not be counted.
CREATE TABLE decision_gaps (
  cluster  text        COLLATE "C" NOT NULL,
  id       text        COLLATE "C" NOT NULL, -- UUIDv7
  since    timestamptz NOT NULL,
  until    timestamptz NOT NULL,
  lost     bigint      CHECK (lost > 0),
  cause    text        NOT NULL,             -- queue-full, store, killed
  instance text        NOT NULL,             -- the process that lost them
  PRIMARY KEY (cluster, id)
);
CREATE INDEX decision_gaps_by_time ON decision_gaps (cluster, until, id);

-- Batch replays: jobs that the database keeps, in parts of revisions.
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

-- Priority classes beside those that snapshots hold. The value, policy and
-- default of a class are columns for SQL; payload is the whole object.
--
-- One row a cluster that has had classes: its version grows by one with every
-- write, is the resourceVersion of what was written, and never goes back, not
-- even where the cluster is deleted: whoever polls it misses nothing. Every
-- write takes this row's lock first, so that replicas take turns.
CREATE TABLE priority_class_versions (
  cluster text   COLLATE "C" NOT NULL PRIMARY KEY,
  version bigint NOT NULL
);

CREATE TABLE priority_classes (
  cluster           text    COLLATE "C" NOT NULL,
  name              text    COLLATE "C" NOT NULL,
  version           bigint  NOT NULL,     -- resourceVersion
  value             integer NOT NULL,
  global_default    boolean NOT NULL,
  preemption_policy text    NOT NULL,
  payload           text    NOT NULL,     -- JSON, without the resourceVersion
  PRIMARY KEY (cluster, name)
);
-- Whatever the program does, a cluster has one default class at most.
CREATE UNIQUE INDEX priority_classes_default ON priority_classes (cluster) WHERE global_default;

-- Which of the servers that share the database follows which cluster's
-- apiserver and writes what it sees, and how fresh that was. A row is a lease.
CREATE TABLE leads (
  cluster  text COLLATE "C" PRIMARY KEY,
  owner    text        NOT NULL,
  synced   boolean     NOT NULL,
  stale_ms bigint      NOT NULL CHECK (stale_ms >= 0),
  renewed  timestamptz NOT NULL,
  until    timestamptz NOT NULL
);

-- A server that does not follow a cluster asks the one that does whether the
-- newest revision holds all that the apiserver has. wanted counts the questions,
-- given is the last one answered, and revision what it was answered with.
CREATE TABLE confirmations (
  cluster  text COLLATE "C" PRIMARY KEY,
  wanted   bigint NOT NULL,
  given    bigint NOT NULL CHECK (given <= wanted),
  revision bigint NOT NULL
);

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

-- How full a cluster was at a revision, a row for each resource: measured for the gauges, at most
-- once an interval. The rows go with their revision.
CREATE TABLE capacities (
  cluster       text        COLLATE "C" NOT NULL,
  revision      bigint      NOT NULL,
  resource      text        COLLATE "C" NOT NULL,
  measured_at   timestamptz NOT NULL,
  allocatable   bigint      NOT NULL, -- cpu in millicores
  requested     bigint      NOT NULL,
  free          bigint      NOT NULL, -- on nodes that are not cordoned
  stranded      bigint      NOT NULL,
  fragmentation float8,               -- percent; NULL: no common shape requests it, or nothing is free
  nodes         bigint      NOT NULL,
  nodes_in_use  bigint      NOT NULL,
  nodes_bound   bigint      NOT NULL,
  PRIMARY KEY (cluster, revision, resource),
  FOREIGN KEY (cluster, revision) REFERENCES revisions (cluster, number) ON DELETE CASCADE
);

-- Who may ask: API tokens, of which only a hash is kept, and what was changed about access. Who
-- asked stands in each decision and revision; it is NULL in those from before.
CREATE TABLE tokens (
  id         text        COLLATE "C" NOT NULL PRIMARY KEY, -- UUIDv7
  name       text        NOT NULL,
  hash       bytea       NOT NULL UNIQUE,                  -- SHA-256 of the whole token
  grants     text        NOT NULL,                         -- JSON
  created_at timestamptz NOT NULL,
  expires_at timestamptz,                                  -- NULL: never
  revoked_at timestamptz,                                  -- NULL: not revoked
  used_at    timestamptz                                   -- NULL: not yet; written now and then
);

CREATE TABLE access_log (
  id         text        COLLATE "C" NOT NULL PRIMARY KEY, -- UUIDv7
  created_at timestamptz NOT NULL,
  action     text        NOT NULL,
  object     text        NOT NULL,
  detail     text        NOT NULL,                         -- JSON
  asked_by   text,
  peer       text,
  request_id text
);

-- The hash chains: a row for each commit and cluster, with the hashes of the rows that it added, or
-- which rows it took away, and the hash of the seal before. Rows of before are older than the chain.
CREATE TABLE seals (
  cluster        text   COLLATE "C" NOT NULL,
  number         bigint NOT NULL,
  kind           text   NOT NULL,        -- rows, removal, deletion
  format         bigint NOT NULL,        -- the schema whose columns the hashes cover
  after_seq      bigint NOT NULL,        -- its decisions are after_seq < seq of theirs <= seq
  seq            bigint NOT NULL,
  after_revision bigint NOT NULL,        -- its revisions, likewise
  revision       bigint NOT NULL,
  previous       bytea  NOT NULL,        -- hash of the seal before
  hash           bytea  NOT NULL,
  row_hashes     bytea  NOT NULL,        -- of its decisions, 32 bytes each
  items          text,                   -- JSON: hashes of its other rows, and what was taken away
  PRIMARY KEY (cluster, number)
);
-- Hashes do not compress.
ALTER TABLE seals ALTER COLUMN row_hashes SET STORAGE EXTERNAL;
CREATE INDEX seals_removals ON seals (cluster, number) WHERE kind <> 'rows';

-- Secrets that replicas share, such as what cursors are sealed with.
CREATE TABLE keys (
  name  text COLLATE "C" NOT NULL PRIMARY KEY,
  value bytea NOT NULL
);

-- A role for people and dashboards: it reads the views and nothing else. Where the migrating role may
-- not make roles, a database's owner does so by hand.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'berth_reader') THEN
    BEGIN
      CREATE ROLE berth_reader NOLOGIN;
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN NULL; -- another database's migration was first
      WHEN insufficient_privilege THEN
        RAISE NOTICE 'role berth_reader is not made: %', SQLERRM;
        RETURN;
    END;
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO berth_reader', current_schema());
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'berth_reader is not let in: %', SQLERRM;
END
$$;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'berth_reader' AND rolconnlimit < 0) THEN
    ALTER ROLE berth_reader CONNECTION LIMIT 5;
    ALTER ROLE berth_reader SET statement_timeout = '5s';
    ALTER ROLE berth_reader SET idle_in_transaction_session_timeout = '10s';
    ALTER ROLE berth_reader SET default_transaction_read_only = on;
    ALTER ROLE berth_reader SET jit = off; -- compiling takes longer than these queries do
  END IF;
EXCEPTION
  WHEN insufficient_privilege THEN RAISE NOTICE 'berth_reader keeps its limits: %', SQLERRM;
  WHEN internal_error THEN NULL; -- another database's migration is at it at this moment
END
$$;
