-- The schema of v0.3.0, the first release. Times are integer microseconds since 1970 in UTC; the
-- views, which stand in views.sql and are run after the migrations, show them as text. No BEGIN or
-- COMMIT here.

-- One row a cluster: the head of its chain of revisions and its books, kept in
-- the same transaction as what they count.
CREATE TABLE clusters (
  cluster   TEXT    NOT NULL PRIMARY KEY,
  newest    INTEGER NOT NULL DEFAULT 0,   -- number of the newest revision, 0: none
  token     TEXT    NOT NULL DEFAULT '',  -- its token
  revisions INTEGER NOT NULL DEFAULT 0,
  decisions INTEGER NOT NULL DEFAULT 0,
  -- The last place given in the log. It never goes back: the row of a cluster that had decisions
  -- stays where the cluster is deleted, for those who follow it.
  last_seq  INTEGER NOT NULL DEFAULT 0,
  seals     INTEGER NOT NULL DEFAULT 0,   -- where the hash chain ends
  seal_hash BLOB    NOT NULL DEFAULT x''
) STRICT, WITHOUT ROWID;

-- The unique parent makes the chain linear whatever the program does: no
-- revision can have two children.
CREATE TABLE revisions (
  cluster      TEXT    NOT NULL,
  number       INTEGER NOT NULL CHECK (number > 0),
  token        TEXT    NOT NULL CHECK (token <> ''),
  parent_token TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  digest       TEXT    NOT NULL,
  cause        TEXT    NOT NULL,
  change       BLOB,                      -- NULL: the state was replaced, see checkpoints
  summary      TEXT,                      -- JSON
  asked_by     TEXT,
  peer         TEXT,
  request_id   TEXT,
  PRIMARY KEY (cluster, number),
  UNIQUE (cluster, parent_token)
) STRICT;
-- Which revision was the newest at a time.
CREATE INDEX revisions_by_time ON revisions (cluster, created_at, number);

CREATE TABLE checkpoints (
  cluster TEXT    NOT NULL,
  number  INTEGER NOT NULL,
  payload BLOB    NOT NULL,
  PRIMARY KEY (cluster, number),
  FOREIGN KEY (cluster, number) REFERENCES revisions (cluster, number) ON DELETE CASCADE
) STRICT;

-- Profiles belong to no cluster: their digest names their content.
CREATE TABLE profiles (
  digest  TEXT NOT NULL PRIMARY KEY,
  name    TEXT NOT NULL,
  payload BLOB NOT NULL
) STRICT;

-- profile to plugins are what decisions have in common. plugins is the JSON list
-- [[name, weight]…] that a decision's scores refer to by place; '' where they
-- name the plugins themselves, as records before this version do.
CREATE TABLE stamps (
  id             INTEGER NOT NULL PRIMARY KEY,
  profile        TEXT    NOT NULL,
  profile_digest TEXT    NOT NULL,
  engine         TEXT    NOT NULL,
  semantics      TEXT    NOT NULL,
  plugins        TEXT    NOT NULL,
  UNIQUE (profile, profile_digest, engine, semantics, plugins)
) STRICT;

-- The decision log. failures, scores and victims are JSON arrays of arrays,
-- since rows in tables of their own make a batch take 1.2 to 1.9 times as long
-- (BenchmarkDurableInserts); read them through the views decision_failures,
-- decision_scores and decision_victims.
--
-- A digest sha256:… is its 32 bytes and a UUID its 16. Any other text is its own
-- bytes, and one byte 1 more where it is as long as the short form, but for
-- bytes 1 at its end.
CREATE TABLE decisions (
  cluster         TEXT    NOT NULL,
  id              TEXT    NOT NULL,       -- UUIDv7
  created_at      INTEGER NOT NULL,       -- microseconds since 1970, UTC
  decided_as_of   INTEGER NOT NULL,       -- the time that the engine was given, likewise
  revision        INTEGER NOT NULL,
  bound_revision  INTEGER NOT NULL,       -- the revision that a bind made, 0: none
  verb            TEXT    NOT NULL,
  outcome         TEXT    NOT NULL,
  namespace       TEXT    NOT NULL,
  pod             TEXT    NOT NULL,
  pod_uid         BLOB    NOT NULL,
  node            TEXT    NOT NULL,
  nominated_node  TEXT    NOT NULL,
  priority        INTEGER NOT NULL,
  nodes_total     INTEGER NOT NULL,
  nodes_feasible  INTEGER NOT NULL,
  message         TEXT    NOT NULL,
  stamp           INTEGER NOT NULL,       -- see stamps
  snapshot_digest BLOB    NOT NULL,
  pod_digest      BLOB    NOT NULL,
  answer_digest   BLOB    NOT NULL,
  duration_micros INTEGER NOT NULL,
  failures        TEXT,                   -- [[plugin, code, reason, nodes, [name…], prefix, suffix]…], code 1: Unschedulable, 2: UnschedulableAndUnresolvable
  scores          TEXT,                   -- [[rank, node, total, [raw or [raw, normalized]…]]…], the plugins by place in the stamp
  victims         TEXT,                   -- [[namespace, pod, uid, priority, node]…]
  input           BLOB,                   -- what a replay needs beside the revision
  seq             INTEGER NOT NULL DEFAULT 0,  -- the place in the log, given when the record is committed
  mode            TEXT    NOT NULL DEFAULT '', -- how the answer was used
  stale_ms        INTEGER,                -- how long the state may have missed what happened; NULL: not followed
  asked_by        TEXT,
  peer            TEXT,
  request_id      TEXT
) STRICT;
CREATE UNIQUE INDEX decisions_by_id ON decisions (id);
-- The list newest first; what it filters on rides along, so that rows that the
-- filter leaves out are not even looked up. Rows of one microsecond are put in
-- the order of their ids when they are read.
CREATE INDEX decisions_by_time ON decisions (cluster, created_at, outcome, verb, namespace);
CREATE INDEX decisions_by_pod ON decisions (cluster, pod, created_at);
CREATE INDEX decisions_by_node ON decisions (cluster, node, created_at) WHERE node <> '';
CREATE INDEX decisions_by_revision ON decisions (cluster, revision, created_at, id);
CREATE INDEX decisions_by_bound_revision ON decisions (cluster, bound_revision) WHERE bound_revision > 0;
-- A reader of the log who goes on after the last place that it saw misses nothing: created_at is
-- when the answer was made, and records come in late and out of that order.
CREATE UNIQUE INDEX decisions_by_seq ON decisions (cluster, seq);

-- What the log says of its own gaps: decisions that were answered and are not on record. lost NULL:
-- they could not be counted.
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

-- Priority classes beside those that snapshots hold. The value, policy and
-- default of a class are columns for SQL; payload is the whole object.
--
-- One row a cluster that has had classes: its version grows by one with every
-- write, is the resourceVersion of what was written, and never goes back, not
-- even where the cluster is deleted: whoever polls it misses nothing.
CREATE TABLE priority_class_versions (
  cluster TEXT    NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE priority_classes (
  cluster           TEXT    NOT NULL,
  name              TEXT    NOT NULL,
  version           INTEGER NOT NULL,     -- resourceVersion
  value             INTEGER NOT NULL,
  global_default    INTEGER NOT NULL CHECK (global_default IN (0, 1)),
  preemption_policy TEXT    NOT NULL,
  payload           TEXT    NOT NULL,     -- JSON, without the resourceVersion
  PRIMARY KEY (cluster, name)
) STRICT, WITHOUT ROWID;
-- Whatever the program does, a cluster has one default class at most.
CREATE UNIQUE INDEX priority_classes_default ON priority_classes (cluster) WHERE global_default = 1;

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

-- A server that does not follow a cluster asks the one that does whether the
-- newest revision holds all that the apiserver has. wanted counts the questions,
-- given is the last one answered, and revision what it was answered with.
CREATE TABLE confirmations (
  cluster  TEXT PRIMARY KEY,
  wanted   INTEGER NOT NULL,
  given    INTEGER NOT NULL CHECK (given <= wanted),
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

-- How full a cluster was at a revision, a row for each resource: measured for the gauges, at most
-- once an interval. The rows go with their revision.
CREATE TABLE capacities (
  cluster       TEXT    NOT NULL,
  revision      INTEGER NOT NULL,
  resource      TEXT    NOT NULL,
  measured_at   INTEGER NOT NULL, -- microseconds since 1970, UTC
  allocatable   INTEGER NOT NULL, -- cpu in millicores
  requested     INTEGER NOT NULL,
  free          INTEGER NOT NULL, -- on nodes that are not cordoned
  stranded      INTEGER NOT NULL,
  fragmentation REAL,             -- percent; NULL: no common shape requests it, or nothing is free
  nodes         INTEGER NOT NULL,
  nodes_in_use  INTEGER NOT NULL,
  nodes_bound   INTEGER NOT NULL,
  PRIMARY KEY (cluster, revision, resource),
  FOREIGN KEY (cluster, revision) REFERENCES revisions (cluster, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Who may ask: API tokens, of which only a hash is kept, and what was changed about access. Who
-- asked stands in each decision and revision; it is NULL in those from before.
CREATE TABLE tokens (
  id         TEXT    NOT NULL PRIMARY KEY, -- UUIDv7
  name       TEXT    NOT NULL,
  hash       BLOB    NOT NULL UNIQUE,      -- SHA-256 of the whole token
  grants     TEXT    NOT NULL,             -- JSON
  created_at INTEGER NOT NULL,             -- microseconds since 1970, UTC
  expires_at INTEGER,                      -- NULL: never
  revoked_at INTEGER,                      -- NULL: not revoked
  used_at    INTEGER                       -- NULL: not yet; written now and then
) STRICT, WITHOUT ROWID;

CREATE TABLE access_log (
  id         TEXT    NOT NULL PRIMARY KEY, -- UUIDv7
  created_at INTEGER NOT NULL,
  action     TEXT    NOT NULL,
  object     TEXT    NOT NULL,
  detail     TEXT    NOT NULL,             -- JSON
  asked_by   TEXT,
  peer       TEXT,
  request_id TEXT
) STRICT, WITHOUT ROWID;

-- The hash chains: a row for each commit and cluster, with the hashes of the rows that it added, or
-- which rows it took away, and the hash of the seal before. Rows of before are older than the chain.
CREATE TABLE seals (
  cluster        TEXT    NOT NULL,
  number         INTEGER NOT NULL,
  kind           TEXT    NOT NULL,       -- rows, removal, deletion
  format         INTEGER NOT NULL,       -- the schema whose columns the hashes cover
  after_seq      INTEGER NOT NULL,       -- its decisions are after_seq < seq of theirs <= seq
  seq            INTEGER NOT NULL,
  after_revision INTEGER NOT NULL,       -- its revisions, likewise
  revision       INTEGER NOT NULL,
  previous       BLOB    NOT NULL,       -- hash of the seal before
  hash           BLOB    NOT NULL,
  row_hashes     BLOB    NOT NULL,       -- of its decisions, 32 bytes each
  items          TEXT,                   -- JSON: hashes of its other rows, and what was taken away
  PRIMARY KEY (cluster, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX seals_removals ON seals (cluster, number) WHERE kind <> 'rows';

-- Secrets that replicas share, such as what cursors are sealed with.
CREATE TABLE keys (
  name  TEXT NOT NULL PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;
