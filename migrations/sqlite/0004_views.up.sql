-- Smaller records, and more views. What many decisions share (profile, engine,
-- semantics, the plugins that scored) is stored once, digests and UIDs are bytes,
-- and the indexes leave out what the rows hold. The rows are written anew, which
-- takes about a second for each 50,000 and as much room again until it is done.

DROP VIEW revision_log;
DROP VIEW pending_reasons;
DROP VIEW decision_victims;
DROP VIEW decision_margins;
DROP VIEW decision_plugin_scores;
DROP VIEW decision_scores;
DROP VIEW decision_rejected_nodes;
DROP VIEW decision_failures;
DROP VIEW decision_log;

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

ALTER TABLE decisions RENAME TO decisions_before;
DROP INDEX decisions_by_id;
DROP INDEX decisions_by_time;
DROP INDEX decisions_by_pod;
DROP INDEX decisions_by_node;
DROP INDEX decisions_by_revision;
DROP INDEX decisions_by_bound_revision;

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
  input           BLOB                    -- what a replay needs beside the revision
) STRICT;

INSERT INTO stamps (profile, profile_digest, engine, semantics, plugins)
SELECT DISTINCT profile, profile_digest, engine, semantics, '' FROM decisions_before ORDER BY 1, 2, 3, 4;

INSERT INTO decisions (rowid, cluster, id, created_at, decided_as_of, revision, bound_revision, verb, outcome, namespace, pod, pod_uid, node, nominated_node,
  priority, nodes_total, nodes_feasible, message, stamp, snapshot_digest, pod_digest, answer_digest, duration_micros,
  failures, scores, victims, input)
SELECT d.rowid, d.cluster, d.id, d.created_at, d.decided_as_of, d.revision, d.bound_revision, d.verb, d.outcome, d.namespace, d.pod,
  CASE WHEN length(d.pod_uid) = 36 AND d.pod_uid GLOB '????????-????-????-????-????????????' AND length(replace(d.pod_uid, '-', '')) = 32 AND replace(d.pod_uid, '-', '') NOT GLOB '*[^0-9a-f]*' THEN unhex(replace(d.pod_uid, '-', ''))
       WHEN length(CAST(d.pod_uid AS BLOB)) >= 16 AND rtrim(CAST(substr(CAST(d.pod_uid AS BLOB), 17) AS TEXT), char(1)) = '' THEN CAST(d.pod_uid || char(1) AS BLOB)
       ELSE CAST(d.pod_uid AS BLOB) END,
  d.node, d.nominated_node, d.priority, d.nodes_total, d.nodes_feasible, d.message, t.id,
  CASE WHEN length(d.snapshot_digest) = 71 AND d.snapshot_digest GLOB 'sha256:*' AND substr(d.snapshot_digest, 8) NOT GLOB '*[^0-9a-f]*' THEN unhex(substr(d.snapshot_digest, 8))
       WHEN length(CAST(d.snapshot_digest AS BLOB)) >= 32 AND rtrim(CAST(substr(CAST(d.snapshot_digest AS BLOB), 33) AS TEXT), char(1)) = '' THEN CAST(d.snapshot_digest || char(1) AS BLOB)
       ELSE CAST(d.snapshot_digest AS BLOB) END,
  CASE WHEN length(d.pod_digest) = 71 AND d.pod_digest GLOB 'sha256:*' AND substr(d.pod_digest, 8) NOT GLOB '*[^0-9a-f]*' THEN unhex(substr(d.pod_digest, 8))
       WHEN length(CAST(d.pod_digest AS BLOB)) >= 32 AND rtrim(CAST(substr(CAST(d.pod_digest AS BLOB), 33) AS TEXT), char(1)) = '' THEN CAST(d.pod_digest || char(1) AS BLOB)
       ELSE CAST(d.pod_digest AS BLOB) END,
  CASE WHEN length(d.answer_digest) = 71 AND d.answer_digest GLOB 'sha256:*' AND substr(d.answer_digest, 8) NOT GLOB '*[^0-9a-f]*' THEN unhex(substr(d.answer_digest, 8))
       WHEN length(CAST(d.answer_digest AS BLOB)) >= 32 AND rtrim(CAST(substr(CAST(d.answer_digest AS BLOB), 33) AS TEXT), char(1)) = '' THEN CAST(d.answer_digest || char(1) AS BLOB)
       ELSE CAST(d.answer_digest AS BLOB) END,
  d.duration_micros, d.failures, d.scores, d.victims, d.input
FROM decisions_before d JOIN stamps t
  ON t.profile = d.profile AND t.profile_digest = d.profile_digest AND t.engine = d.engine AND t.semantics = d.semantics AND t.plugins = '';
DROP TABLE decisions_before;

CREATE UNIQUE INDEX decisions_by_id ON decisions (id);
-- The list newest first; what it filters on rides along, so that rows that the
-- filter leaves out are not even looked up. Rows of one microsecond are put in
-- the order of their ids when they are read.
CREATE INDEX decisions_by_time ON decisions (cluster, created_at, outcome, verb, namespace);
CREATE INDEX decisions_by_pod ON decisions (cluster, pod, created_at);
CREATE INDEX decisions_by_node ON decisions (cluster, node, created_at) WHERE node <> '';
CREATE INDEX decisions_by_revision ON decisions (cluster, revision, created_at, id);
CREATE INDEX decisions_by_bound_revision ON decisions (cluster, bound_revision) WHERE bound_revision > 0;
-- Which revision was the newest at a time.
CREATE INDEX revisions_by_time ON revisions (cluster, created_at, number);

-- Views for people, with the same names and columns on every backend. Narrow
-- them with the raw columns (cluster, created_at, pod, node), which have indexes;
-- the column time is for reading.

-- The log, a row a decision.
CREATE VIEW decision_log AS
SELECT d.cluster,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome, d.node, d.nominated_node, d.message,
       d.nodes_total, d.nodes_feasible, d.priority, t.profile,
       d.cluster || '@' || d.revision AS snapshot,
       CASE WHEN d.bound_revision > 0 THEN d.cluster || '@' || d.bound_revision END AS bound_snapshot,
       d.duration_micros / 1000.0 AS duration_ms,
       t.engine, t.semantics, d.id, d.created_at,
       CASE length(d.pod_uid) WHEN 16 THEN lower(substr(hex(d.pod_uid), 1, 8) || '-' || substr(hex(d.pod_uid), 9, 4) || '-' || substr(hex(d.pod_uid), 13, 4) || '-' || substr(hex(d.pod_uid), 17, 4) || '-' || substr(hex(d.pod_uid), 21)) ELSE CAST(d.pod_uid AS TEXT) END AS pod_uid,
       d.decided_as_of, d.revision, d.bound_revision, t.profile_digest,
       CASE length(d.snapshot_digest) WHEN 32 THEN 'sha256:' || lower(hex(d.snapshot_digest)) ELSE CAST(d.snapshot_digest AS TEXT) END AS snapshot_digest,
       CASE length(d.pod_digest) WHEN 32 THEN 'sha256:' || lower(hex(d.pod_digest)) ELSE CAST(d.pod_digest AS TEXT) END AS pod_digest,
       CASE length(d.answer_digest) WHEN 32 THEN 'sha256:' || lower(hex(d.answer_digest)) ELSE CAST(d.answer_digest AS TEXT) END AS answer_digest
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp;

-- How many nodes each plugin rejected, and why.
CREATE VIEW decision_failures AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       json_extract(f.value, '$[0]') AS plugin,
       CASE json_extract(f.value, '$[1]') WHEN 1 THEN 'Unschedulable' WHEN 2 THEN 'UnschedulableAndUnresolvable' ELSE json_extract(f.value, '$[1]') END AS code,
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
       coalesce(json_extract(f.value, '$[5]'), '') || n.value || coalesce(json_extract(f.value, '$[6]'), '') AS node,
       json_extract(f.value, '$[0]') AS plugin,
       CASE json_extract(f.value, '$[1]') WHEN 1 THEN 'Unschedulable' WHEN 2 THEN 'UnschedulableAndUnresolvable' ELSE json_extract(f.value, '$[1]') END AS code,
       json_extract(f.value, '$[2]') AS reason,
       json_extract(f.value, '$[3]') AS nodes,
       d.created_at
FROM decisions d, json_each(d.failures) f, json_each(f.value, '$[4]') n;

-- The best nodes of each decision. plugins is JSON, see decision_plugin_scores.
CREATE VIEW decision_scores AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod,
       json_extract(s.value, '$[0]') AS rank,
       json_extract(s.value, '$[1]') AS node,
       json_extract(s.value, '$[2]') AS total,
       json_extract(s.value, '$[1]') = d.node AS chosen,
       CASE WHEN coalesce(t.plugins, '') = '' THEN json_extract(s.value, '$[3]') ELSE (
         SELECT json_group_array(json_object('plugin', json_extract(t.plugins, '$[' || p.key || '][0]'),
             'raw', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[0]') ELSE p.value END,
             'normalized', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[1]') ELSE p.value END,
             'weight', json_extract(t.plugins, '$[' || p.key || '][1]'),
             'weighted', CASE p.type WHEN 'array' THEN json_extract(p.value, '$[1]') ELSE p.value END * json_extract(t.plugins, '$[' || p.key || '][1]')))
         FROM json_each(s.value, '$[3]') p) END AS plugins,
       d.created_at
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp, json_each(d.scores) s;

-- What each plugin thought of the best nodes.
CREATE VIEW decision_plugin_scores AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       json_extract(s.value, '$[0]') AS rank,
       json_extract(s.value, '$[1]') AS node,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.plugin') ELSE json_extract(t.plugins, '$[' || p.key || '][0]') END AS plugin,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.raw') WHEN 'array' THEN json_extract(p.value, '$[0]') ELSE p.value END AS raw,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.normalized') WHEN 'array' THEN json_extract(p.value, '$[1]') ELSE p.value END AS normalized,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.weight') ELSE json_extract(t.plugins, '$[' || p.key || '][1]') END AS weight,
       CASE p.type WHEN 'object' THEN json_extract(p.value, '$.weighted') WHEN 'array' THEN json_extract(p.value, '$[1]') * json_extract(t.plugins, '$[' || p.key || '][1]') ELSE p.value * json_extract(t.plugins, '$[' || p.key || '][1]') END AS weighted,
       d.created_at
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp, json_each(d.scores) s, json_each(s.value, '$[3]') p;

-- By how much the first node beat the second: 0 is a tie, which was broken by
-- a hash of pod and node. tied counts those of the recorded best that have the first one's total.
CREATE VIEW decision_margins AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       json_extract(d.scores, '$[0][1]') AS first,
       json_extract(d.scores, '$[1][1]') AS second,
       json_extract(d.scores, '$[0][2]') - json_extract(d.scores, '$[1][2]') AS margin,
       d.created_at,
       (SELECT count(*) FROM json_each(d.scores) s WHERE json_extract(s.value, '$[2]') = json_extract(d.scores, '$[0][2]')) AS tied,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time
FROM decisions d
WHERE json_array_length(d.scores) > 1;

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

-- The plugins that turned most nodes down, hour by hour; rank 1 is the first.
-- A node counts once in each decision that it was turned down in.
CREATE VIEW top_rejecting_plugins AS
SELECT d.cluster,
       strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch') AS hour,
       rank() OVER (PARTITION BY d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch') ORDER BY sum(json_extract(f.value, '$[3]')) DESC) AS rank,
       json_extract(f.value, '$[0]') AS plugin,
       sum(json_extract(f.value, '$[3]')) AS nodes,
       count(DISTINCT d.id) AS decisions,
       count(DISTINCT d.namespace || '/' || d.pod) AS pods
FROM decisions d, json_each(d.failures) f
GROUP BY d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch'), json_extract(f.value, '$[0]');

-- How often each node was the answer, one of the recorded best, or named among
-- the rejected, day by day (UTC). A node that no record names is not here: a
-- record names the answer, the best few, and the rejected of a reason that
-- rejected few.
CREATE VIEW node_choices AS
SELECT u.cluster, strftime('%Y-%m-%d', u.created_at / 1000000, 'unixepoch') AS day, u.node,
       sum(u.chosen) AS chosen, sum(u.scored) AS scored, sum(u.rejected) AS rejected
FROM (
  SELECT d.cluster, d.node, d.created_at, 1 AS chosen, 0 AS scored, 0 AS rejected FROM decisions d WHERE d.node <> '' AND d.outcome = 'Scheduled'
  UNION ALL
  SELECT s.cluster, s.node, s.created_at, 0, 1, 0 FROM decision_scores s
  UNION ALL
  SELECT r.cluster, r.node, r.created_at, 0, 0, 1 FROM decision_rejected_nodes r
) u
GROUP BY u.cluster, strftime('%Y-%m-%d', u.created_at / 1000000, 'unixepoch'), u.node;

-- Nodes that were looked at, and never the answer, in all that is kept.
CREATE VIEW nodes_never_chosen AS
SELECT cluster, node, sum(scored) AS scored, sum(rejected) AS rejected, min(day) AS first_day, max(day) AS last_day
FROM node_choices
GROUP BY cluster, node
HAVING sum(chosen) = 0;

-- Decisions on a revision that was no longer the newest when the answer was
-- recorded: how many revisions behind, and for how many seconds it had been
-- outdated. A question about a named old snapshot is one of them.
CREATE VIEW stale_decisions AS
SELECT d.cluster, d.id AS decision_id,
       strftime('%Y-%m-%dT%H:%M:%S', d.created_at / 1000000, 'unixepoch') || printf('.%06dZ', d.created_at % 1000000) AS time,
       d.verb, d.namespace, d.pod, d.outcome, d.node,
       d.cluster || '@' || d.revision AS snapshot,
       d.cluster || '@' || n.number AS newest_snapshot,
       n.number - d.revision AS revisions_behind,
       (d.created_at - o.created_at) / 1e6 AS stale_seconds,
       d.created_at
FROM decisions d
JOIN revisions n ON n.cluster = d.cluster AND n.number = (
  SELECT r.number FROM revisions r WHERE r.cluster = d.cluster AND r.created_at <= d.created_at ORDER BY r.created_at DESC, r.number DESC LIMIT 1)
JOIN revisions o ON o.cluster = d.cluster AND o.number = (
  SELECT min(r.number) FROM revisions r WHERE r.cluster = d.cluster AND r.number > d.revision)
WHERE d.revision + 0 > 0 AND d.bound_revision = 0 AND n.number > d.revision + 0; -- + 0 keeps the index by revision out of it

-- How long each pod waited from its first decision to its bind, as far as berth
-- bound it; bound, node and wait_seconds are NULL where it did not.
CREATE VIEW scheduling_latency AS
SELECT d.cluster, d.namespace, d.pod, CASE length(d.pod_uid) WHEN 16 THEN lower(substr(hex(d.pod_uid), 1, 8) || '-' || substr(hex(d.pod_uid), 9, 4) || '-' || substr(hex(d.pod_uid), 13, 4) || '-' || substr(hex(d.pod_uid), 17, 4) || '-' || substr(hex(d.pod_uid), 21)) ELSE CAST(d.pod_uid AS TEXT) END AS pod_uid,
       count(*) AS decisions,
       count(CASE WHEN d.outcome = 'Unschedulable' THEN 1 END) AS unschedulable,
       strftime('%Y-%m-%dT%H:%M:%S', min(d.created_at) / 1000000, 'unixepoch') || printf('.%06dZ', min(d.created_at) % 1000000) AS first_decided,
       strftime('%Y-%m-%dT%H:%M:%S', min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) / 1000000, 'unixepoch') || printf('.%06dZ', min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) % 1000000) AS bound,
       min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.node END) AS node,
       (min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) - min(d.created_at)) / 1e6 AS wait_seconds,
       min(d.created_at) AS first_decided_at,
       min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) AS bound_at
FROM decisions d
GROUP BY d.cluster, d.namespace, d.pod, d.pod_uid;

-- Pods that were told another node than the time before, and how often.
CREATE VIEW flapping_pods AS
SELECT d.cluster, d.namespace, d.pod, count(*) AS decisions, count(DISTINCT d.node) AS nodes,
       count(CASE WHEN d.node <> (
         SELECT b.node FROM decisions b
         WHERE b.cluster = d.cluster AND b.pod = d.pod AND b.namespace = d.namespace AND b.node <> '' AND b.outcome = 'Scheduled'
           AND (b.created_at, b.id) < (d.created_at, d.id)
         ORDER BY b.created_at DESC, b.id DESC LIMIT 1) THEN 1 END) AS changes,
       strftime('%Y-%m-%dT%H:%M:%S', min(d.created_at) / 1000000, 'unixepoch') || printf('.%06dZ', min(d.created_at) % 1000000) AS first_decided,
       strftime('%Y-%m-%dT%H:%M:%S', max(d.created_at) / 1000000, 'unixepoch') || printf('.%06dZ', max(d.created_at) % 1000000) AS last_decided
FROM decisions d
WHERE d.node <> '' AND d.outcome = 'Scheduled'
GROUP BY d.cluster, d.namespace, d.pod
HAVING count(DISTINCT d.node) > 1;

-- What share of a cluster's decisions each verb and profile had, day by day (UTC).
CREATE VIEW decision_shares AS
SELECT d.cluster, strftime('%Y-%m-%d', d.created_at / 1000000, 'unixepoch') AS day, d.verb, t.profile, count(*) AS decisions,
       round(1.0 * count(*) / sum(count(*)) OVER (PARTITION BY d.cluster, strftime('%Y-%m-%d', d.created_at / 1000000, 'unixepoch')), 6) AS share
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp
GROUP BY d.cluster, strftime('%Y-%m-%d', d.created_at / 1000000, 'unixepoch'), d.verb, t.profile;

-- How long decisions took, hour by hour: the smallest duration that half of
-- them, or 99 in 100, did not exceed.
CREATE VIEW decision_durations AS
SELECT r.cluster, r.hour, r.verb, count(*) AS decisions,
       min(CASE WHEN r.place * 2 >= r.total THEN r.duration_micros END) / 1000.0 AS p50_ms,
       min(CASE WHEN r.place * 100 >= r.total * 99 THEN r.duration_micros END) / 1000.0 AS p99_ms,
       max(r.duration_micros) / 1000.0 AS max_ms
FROM (
  SELECT d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch') AS hour, d.verb, d.duration_micros,
         row_number() OVER (PARTITION BY d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch'), d.verb ORDER BY d.duration_micros) AS place,
         count(*) OVER (PARTITION BY d.cluster, strftime('%Y-%m-%dT%H:00:00Z', d.created_at / 1000000, 'unixepoch'), d.verb) AS total
  FROM decisions d
) r
GROUP BY r.cluster, r.hour, r.verb;

-- The line of a cluster's revisions.
CREATE VIEW revision_log AS
SELECT r.cluster, r.cluster || '@' || r.number AS snapshot,
       strftime('%Y-%m-%dT%H:%M:%S', r.created_at / 1000000, 'unixepoch') || printf('.%06dZ', r.created_at % 1000000) AS time,
       r.cause, r.digest, length(r.change) AS change_bytes,
       length(c.payload) AS checkpoint_bytes,
       r.summary, r.number, r.created_at
FROM revisions r LEFT JOIN checkpoints c ON c.cluster = r.cluster AND c.number = r.number;

PRAGMA user_version = 4;
