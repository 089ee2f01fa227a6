-- The first schema of the embedded store. Times are integer microseconds since
-- 1970 in UTC; the views at the end show them as text. No BEGIN or COMMIT here.

-- One row a cluster: the head of its chain of revisions and its books, kept in
-- the same transaction as what they count.
CREATE TABLE clusters (
  cluster   TEXT    NOT NULL PRIMARY KEY,
  newest    INTEGER NOT NULL DEFAULT 0,   -- number of the newest revision, 0: none
  token     TEXT    NOT NULL DEFAULT '',  -- its token
  revisions INTEGER NOT NULL DEFAULT 0,
  decisions INTEGER NOT NULL DEFAULT 0
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
  PRIMARY KEY (cluster, number),
  UNIQUE (cluster, parent_token)
) STRICT;

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

-- The decision log. failures, scores and victims are JSON arrays of arrays,
-- since rows in tables of their own make a batch take 1.2 to 1.9 times as long
-- (BenchmarkDurableInserts); read them through the views decision_failures,
-- decision_scores and decision_victims.
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
  pod_uid         TEXT    NOT NULL,
  node            TEXT    NOT NULL,
  nominated_node  TEXT    NOT NULL,
  priority        INTEGER NOT NULL,
  nodes_total     INTEGER NOT NULL,
  nodes_feasible  INTEGER NOT NULL,
  message         TEXT    NOT NULL,
  profile         TEXT    NOT NULL,
  profile_digest  TEXT    NOT NULL,
  engine          TEXT    NOT NULL,
  semantics       TEXT    NOT NULL,
  snapshot_digest TEXT    NOT NULL,
  pod_digest      TEXT    NOT NULL,
  answer_digest   TEXT    NOT NULL,
  duration_micros INTEGER NOT NULL,
  failures        TEXT,                   -- [[plugin, code, reason, nodes, [name…]]…]
  scores          TEXT,                   -- [[rank, node, total, [{plugin, …}…]]…]
  victims         TEXT,                   -- [[namespace, pod, uid, priority, node]…]
  input           BLOB                    -- what a replay needs beside the revision
) STRICT;

CREATE UNIQUE INDEX decisions_by_id ON decisions (id);
-- The list newest first; what it filters on rides along, so that rows that the
-- filter leaves out are not even looked up.
CREATE INDEX decisions_by_time ON decisions (cluster, created_at, id, outcome, verb, namespace);
CREATE INDEX decisions_by_pod ON decisions (cluster, pod, created_at, id);
CREATE INDEX decisions_by_node ON decisions (cluster, node, created_at, id) WHERE node <> '';
CREATE INDEX decisions_by_revision ON decisions (cluster, revision);
CREATE INDEX decisions_by_bound_revision ON decisions (cluster, bound_revision) WHERE bound_revision > 0;

-- Views for people. Narrow them with the raw columns (cluster, created_at,
-- pod, node), which have indexes; the column time is for reading.

CREATE VIEW decision_log AS
SELECT cluster,
       strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch') || printf('.%06dZ', created_at % 1000000) AS time,
       verb, namespace, pod, outcome, node, nominated_node, message,
       nodes_total, nodes_feasible, priority, profile,
       cluster || '@' || revision AS snapshot,
       CASE WHEN bound_revision > 0 THEN cluster || '@' || bound_revision END AS bound_snapshot,
       duration_micros / 1000.0 AS duration_ms,
       engine, semantics, id, created_at
FROM decisions;

-- How many nodes each plugin rejected, and why.
CREATE VIEW decision_failures AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       json_extract(f.value, '$[0]') AS plugin,
       json_extract(f.value, '$[1]') AS code,
       json_extract(f.value, '$[2]') AS reason,
       json_extract(f.value, '$[3]') AS nodes,
       d.nodes_total, d.created_at
FROM decisions d, json_each(d.failures) f;

-- Which nodes those were, as far as the record names them: a record keeps few
-- names, nodes says how many there were.
CREATE VIEW decision_rejected_nodes AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       n.value AS node,
       json_extract(f.value, '$[0]') AS plugin,
       json_extract(f.value, '$[1]') AS code,
       json_extract(f.value, '$[2]') AS reason,
       json_extract(f.value, '$[3]') AS nodes,
       d.created_at
FROM decisions d, json_each(d.failures) f, json_each(f.value, '$[4]') n;

-- The best nodes of each decision.
CREATE VIEW decision_scores AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod,
       json_extract(s.value, '$[0]') AS rank,
       json_extract(s.value, '$[1]') AS node,
       json_extract(s.value, '$[2]') AS total,
       json_extract(s.value, '$[1]') = d.node AS chosen,
       json_extract(s.value, '$[3]') AS plugins,
       d.created_at
FROM decisions d, json_each(d.scores) s;

-- What each plugin thought of the best nodes.
CREATE VIEW decision_plugin_scores AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       json_extract(s.value, '$[0]') AS rank,
       json_extract(s.value, '$[1]') AS node,
       json_extract(p.value, '$.plugin') AS plugin,
       json_extract(p.value, '$.raw') AS raw,
       json_extract(p.value, '$.normalized') AS normalized,
       json_extract(p.value, '$.weight') AS weight,
       json_extract(p.value, '$.weighted') AS weighted,
       d.created_at
FROM decisions d, json_each(d.scores) s, json_each(s.value, '$[3]') p;

-- By how much the first node beat the second: 0 is a tie.
CREATE VIEW decision_margins AS
SELECT cluster, id AS decision_id, namespace, pod,
       json_extract(scores, '$[0][1]') AS first,
       json_extract(scores, '$[1][1]') AS second,
       json_extract(scores, '$[0][2]') - json_extract(scores, '$[1][2]') AS margin,
       created_at
FROM decisions
WHERE json_array_length(scores) > 1;

-- Who would be evicted for whom.
CREATE VIEW decision_victims AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.namespace, d.pod, d.priority,
       json_extract(v.value, '$[0]') AS victim_namespace,
       json_extract(v.value, '$[1]') AS victim,
       json_extract(v.value, '$[2]') AS victim_uid,
       json_extract(v.value, '$[3]') AS victim_priority,
       json_extract(v.value, '$[4]') AS node,
       d.created_at
FROM decisions d, json_each(d.victims) v;

-- Why pods could not be placed, hour by hour. pods counts each pod once.
CREATE VIEW pending_reasons AS
SELECT d.cluster,
       strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch') AS hour,
       json_extract(f.value, '$[0]') AS plugin,
       json_extract(f.value, '$[2]') AS reason,
       count(DISTINCT d.namespace || '/' || d.pod) AS pods,
       count(DISTINCT d.id) AS decisions,
       sum(json_extract(f.value, '$[3]')) AS nodes
FROM decisions d, json_each(d.failures) f
WHERE d.outcome = 'Unschedulable'
GROUP BY 1, 2, 3, 4;

CREATE VIEW revision_log AS
SELECT r.cluster, r.cluster || '@' || r.number AS snapshot,
       strftime('%Y-%m-%dT%H:%M:%S', r.created_at / 1000000, 'unixepoch') || printf('.%06dZ', r.created_at % 1000000) AS time,
       r.cause, r.digest, length(r.change) AS change_bytes,
       length(c.payload) AS checkpoint_bytes,
       r.summary, r.number, r.created_at
FROM revisions r LEFT JOIN checkpoints c ON c.cluster = r.cluster AND c.number = r.number;

PRAGMA user_version = 1;
