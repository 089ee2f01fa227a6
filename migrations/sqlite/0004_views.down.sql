-- Back to the first form of a record: all columns keep their values, and the views
-- that came with version 4 go. Inputs keep their bytes. A program from before
-- version 4 cannot read those that were compressed with the dictionary, and says
-- so; one that knows it replays every decision after the way up again.

DROP VIEW revision_log;
DROP VIEW decision_durations;
DROP VIEW decision_shares;
DROP VIEW flapping_pods;
DROP VIEW scheduling_latency;
DROP VIEW stale_decisions;
DROP VIEW nodes_never_chosen;
DROP VIEW node_choices;
DROP VIEW top_rejecting_plugins;
DROP VIEW pending_reasons;
DROP VIEW decision_victims;
DROP VIEW decision_margins;
DROP VIEW decision_plugin_scores;
DROP VIEW decision_scores;
DROP VIEW decision_rejected_nodes;
DROP VIEW decision_failures;
DROP VIEW decision_log;

DROP INDEX revisions_by_time;
ALTER TABLE decisions RENAME TO decisions_after;
DROP INDEX decisions_by_id;
DROP INDEX decisions_by_time;
DROP INDEX decisions_by_pod;
DROP INDEX decisions_by_node;
DROP INDEX decisions_by_revision;
DROP INDEX decisions_by_bound_revision;

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

INSERT INTO decisions (rowid, cluster, id, created_at, decided_as_of, revision, bound_revision, verb, outcome, namespace, pod, pod_uid, node, nominated_node,
  priority, nodes_total, nodes_feasible, message, profile, profile_digest, engine, semantics, snapshot_digest, pod_digest, answer_digest,
  duration_micros, failures, scores, victims, input)
SELECT d.rowid, d.cluster, d.id, d.created_at, d.decided_as_of, d.revision, d.bound_revision, d.verb, d.outcome, d.namespace, d.pod,
  CASE WHEN length(d.pod_uid) = 16 THEN lower(substr(hex(d.pod_uid), 1, 8) || '-' || substr(hex(d.pod_uid), 9, 4) || '-' || substr(hex(d.pod_uid), 13, 4) || '-' || substr(hex(d.pod_uid), 17, 4) || '-' || substr(hex(d.pod_uid), 21))
       WHEN length(d.pod_uid) > 16 AND rtrim(CAST(substr(d.pod_uid, 17) AS TEXT), char(1)) = '' THEN CAST(substr(d.pod_uid, 1, length(d.pod_uid) - 1) AS TEXT)
       ELSE CAST(d.pod_uid AS TEXT) END,
  d.node, d.nominated_node, d.priority, d.nodes_total, d.nodes_feasible, d.message, t.profile, t.profile_digest, t.engine, t.semantics,
  CASE WHEN length(d.snapshot_digest) = 32 THEN 'sha256:' || lower(hex(d.snapshot_digest))
       WHEN length(d.snapshot_digest) > 32 AND rtrim(CAST(substr(d.snapshot_digest, 33) AS TEXT), char(1)) = '' THEN CAST(substr(d.snapshot_digest, 1, length(d.snapshot_digest) - 1) AS TEXT)
       ELSE CAST(d.snapshot_digest AS TEXT) END,
  CASE WHEN length(d.pod_digest) = 32 THEN 'sha256:' || lower(hex(d.pod_digest))
       WHEN length(d.pod_digest) > 32 AND rtrim(CAST(substr(d.pod_digest, 33) AS TEXT), char(1)) = '' THEN CAST(substr(d.pod_digest, 1, length(d.pod_digest) - 1) AS TEXT)
       ELSE CAST(d.pod_digest AS TEXT) END,
  CASE WHEN length(d.answer_digest) = 32 THEN 'sha256:' || lower(hex(d.answer_digest))
       WHEN length(d.answer_digest) > 32 AND rtrim(CAST(substr(d.answer_digest, 33) AS TEXT), char(1)) = '' THEN CAST(substr(d.answer_digest, 1, length(d.answer_digest) - 1) AS TEXT)
       ELSE CAST(d.answer_digest AS TEXT) END,
  d.duration_micros,
  CASE WHEN d.failures IS NOT NULL THEN (
    SELECT json_group_array(CASE WHEN json_type(f.value, '$[4]') IS NULL
      THEN json_array(json_extract(f.value, '$[0]'), CASE json_extract(f.value, '$[1]') WHEN 1 THEN 'Unschedulable' WHEN 2 THEN 'UnschedulableAndUnresolvable' ELSE json_extract(f.value, '$[1]') END, json_extract(f.value, '$[2]'), json_extract(f.value, '$[3]'))
      ELSE json_array(json_extract(f.value, '$[0]'), CASE json_extract(f.value, '$[1]') WHEN 1 THEN 'Unschedulable' WHEN 2 THEN 'UnschedulableAndUnresolvable' ELSE json_extract(f.value, '$[1]') END, json_extract(f.value, '$[2]'), json_extract(f.value, '$[3]'), json((
        SELECT json_group_array(coalesce(json_extract(f.value, '$[5]'), '') || n.value || coalesce(json_extract(f.value, '$[6]'), '')) FROM json_each(f.value, '$[4]') n))) END)
    FROM json_each(d.failures) f) END,
  CASE WHEN t.plugins = '' THEN d.scores WHEN d.scores IS NOT NULL THEN (
    SELECT json_group_array(json_array(json_extract(s.value, '$[0]'), json_extract(s.value, '$[1]'), json_extract(s.value, '$[2]'), json(
      CASE WHEN coalesce(t.plugins, '') = '' THEN json_extract(s.value, '$[3]') ELSE (
         SELECT json_group_array(json_object('plugin', json_extract(t.plugins, '$[' || p.key || '][0]'),
             'raw', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[0]') ELSE p.value END,
             'normalized', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[1]') ELSE p.value END,
             'weight', json_extract(t.plugins, '$[' || p.key || '][1]'),
             'weighted', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[1]') ELSE p.value END * json_extract(t.plugins, '$[' || p.key || '][1]')))
         FROM json_each(s.value, '$[3]') p) END)))
    FROM json_each(d.scores) s) END,
  d.victims, d.input
FROM decisions_after d JOIN stamps t ON t.id = d.stamp;
DROP TABLE decisions_after;
DROP TABLE stamps;

CREATE UNIQUE INDEX decisions_by_id ON decisions (id);
-- The list newest first; what it filters on rides along, so that rows that the
-- filter leaves out are not even looked up.
CREATE INDEX decisions_by_time ON decisions (cluster, created_at, id, outcome, verb, namespace);
CREATE INDEX decisions_by_pod ON decisions (cluster, pod, created_at, id);
CREATE INDEX decisions_by_node ON decisions (cluster, node, created_at, id) WHERE node <> '';
CREATE INDEX decisions_by_revision ON decisions (cluster, revision, created_at, id);
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

PRAGMA user_version = 3;
