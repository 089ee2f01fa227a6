-- Smaller records, and more views. What many decisions share (profile, engine,
-- semantics, the plugins that scored) is stored once, digests and UIDs are bytes,
-- and the indexes leave out what the rows hold. The rows are written anew, which
-- takes about a second for each 30,000 and as much room again until it is done.

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
  id             integer NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  profile        text    NOT NULL,
  profile_digest text    NOT NULL,
  engine         text    NOT NULL,
  semantics      text    NOT NULL,
  plugins        text    NOT NULL
);
-- By digest, since together they may be longer than an index takes.
CREATE UNIQUE INDEX stamps_by_content ON stamps (md5(profile), profile_digest, engine, semantics, md5(plugins));

ALTER TABLE decisions RENAME TO decisions_before;
DO $$
DECLARE
  part record;
BEGIN
  FOR part IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'decisions_before'::regclass
  LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', part.relname, part.relname || '_before');
  END LOOP;
END
$$;

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
  input           bytea                   -- what a replay needs beside the revision
) PARTITION BY RANGE (created_at);
-- Inputs come compressed.
ALTER TABLE decisions ALTER COLUMN input SET STORAGE EXTERNAL;

DO $$
DECLARE
  part record;
BEGIN
  FOR part IN
    SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'decisions_before'::regclass
  LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF decisions %s', left(part.relname, -7), part.bound);
  END LOOP;
END
$$;

INSERT INTO stamps (profile, profile_digest, engine, semantics, plugins)
SELECT DISTINCT profile, profile_digest, engine, semantics, '' FROM decisions_before ORDER BY 1, 2, 3, 4;

INSERT INTO decisions (cluster, id, created_at, decided_as_of, revision, bound_revision, verb, outcome, namespace, pod, pod_uid, node, nominated_node,
  priority, nodes_total, nodes_feasible, message, stamp, snapshot_digest, pod_digest, answer_digest, duration_micros,
  failures, scores, victims, input)
SELECT d.cluster, d.id, d.created_at, d.decided_as_of, d.revision, d.bound_revision, d.verb, d.outcome, d.namespace, d.pod,
  CASE WHEN d.pod_uid ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' THEN decode(replace(d.pod_uid, '-', ''), 'hex')
       WHEN encode(substring(convert_to(d.pod_uid, 'UTF8') FROM 17), 'hex') ~ '^(01)*$' AND octet_length(d.pod_uid) >= 16 THEN convert_to(d.pod_uid || chr(1), 'UTF8')
       ELSE convert_to(d.pod_uid, 'UTF8') END,
  d.node, d.nominated_node, d.priority, d.nodes_total, d.nodes_feasible, d.message, t.id,
  CASE WHEN d.snapshot_digest ~ '^sha256:[0-9a-f]{64}$' THEN decode(substr(d.snapshot_digest, 8), 'hex')
       WHEN encode(substring(convert_to(d.snapshot_digest, 'UTF8') FROM 33), 'hex') ~ '^(01)*$' AND octet_length(d.snapshot_digest) >= 32 THEN convert_to(d.snapshot_digest || chr(1), 'UTF8')
       ELSE convert_to(d.snapshot_digest, 'UTF8') END,
  CASE WHEN d.pod_digest ~ '^sha256:[0-9a-f]{64}$' THEN decode(substr(d.pod_digest, 8), 'hex')
       WHEN encode(substring(convert_to(d.pod_digest, 'UTF8') FROM 33), 'hex') ~ '^(01)*$' AND octet_length(d.pod_digest) >= 32 THEN convert_to(d.pod_digest || chr(1), 'UTF8')
       ELSE convert_to(d.pod_digest, 'UTF8') END,
  CASE WHEN d.answer_digest ~ '^sha256:[0-9a-f]{64}$' THEN decode(substr(d.answer_digest, 8), 'hex')
       WHEN encode(substring(convert_to(d.answer_digest, 'UTF8') FROM 33), 'hex') ~ '^(01)*$' AND octet_length(d.answer_digest) >= 32 THEN convert_to(d.answer_digest || chr(1), 'UTF8')
       ELSE convert_to(d.answer_digest, 'UTF8') END,
  d.duration_micros, d.failures, d.scores, d.victims, d.input
FROM decisions_before d JOIN stamps t
  ON t.profile = d.profile AND t.profile_digest = d.profile_digest AND t.engine = d.engine AND t.semantics = d.semantics;
DROP TABLE decisions_before;

ALTER TABLE decisions ADD PRIMARY KEY (cluster, created_at, id); -- the list newest first, too
CREATE INDEX decisions_by_id ON decisions (id);
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
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome, d.node, d.nominated_node, d.message,
       d.nodes_total, d.nodes_feasible, d.priority, t.profile,
       d.cluster || '@' || d.revision AS snapshot,
       CASE WHEN d.bound_revision > 0 THEN d.cluster || '@' || d.bound_revision END AS bound_snapshot,
       d.duration_micros / 1000.0::float8 AS duration_ms,
       t.engine, t.semantics, d.id, d.created_at,
       CASE octet_length(d.pod_uid) WHEN 16 THEN encode(d.pod_uid, 'hex')::uuid::text ELSE convert_from(d.pod_uid, 'UTF8') END AS pod_uid,
       d.decided_as_of, d.revision, d.bound_revision, t.profile_digest,
       CASE octet_length(d.snapshot_digest) WHEN 32 THEN 'sha256:' || encode(d.snapshot_digest, 'hex') ELSE convert_from(d.snapshot_digest, 'UTF8') END AS snapshot_digest,
       CASE octet_length(d.pod_digest) WHEN 32 THEN 'sha256:' || encode(d.pod_digest, 'hex') ELSE convert_from(d.pod_digest, 'UTF8') END AS pod_digest,
       CASE octet_length(d.answer_digest) WHEN 32 THEN 'sha256:' || encode(d.answer_digest, 'hex') ELSE convert_from(d.answer_digest, 'UTF8') END AS answer_digest
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp;

-- How many nodes each plugin rejected, and why.
CREATE VIEW decision_failures AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       f.value ->> 0 AS plugin,
       CASE (f.value -> 1)::text WHEN '1' THEN 'Unschedulable' WHEN '2' THEN 'UnschedulableAndUnresolvable' ELSE f.value ->> 1 END AS code,
       f.value ->> 2 AS reason,
       (f.value ->> 3)::bigint AS nodes,
       d.nodes_total, d.created_at
FROM decisions d, json_array_elements(d.failures::json) f;

-- Which nodes those were, as far as the record names them: a record keeps few
-- names, nodes says how many there were.
CREATE VIEW decision_rejected_nodes AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       coalesce(f.value ->> 5, '') || n.value || coalesce(f.value ->> 6, '') AS node,
       f.value ->> 0 AS plugin,
       CASE (f.value -> 1)::text WHEN '1' THEN 'Unschedulable' WHEN '2' THEN 'UnschedulableAndUnresolvable' ELSE f.value ->> 1 END AS code,
       f.value ->> 2 AS reason,
       (f.value ->> 3)::bigint AS nodes,
       d.created_at
FROM decisions d, json_array_elements(d.failures::json) f, json_array_elements_text(f.value -> 4) n;

-- The best nodes of each decision. plugins is JSON, see decision_plugin_scores.
CREATE VIEW decision_scores AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod,
       (s.value ->> 0)::integer AS rank,
       s.value ->> 1 AS node,
       (s.value ->> 2)::bigint AS total,
       s.value ->> 1 = d.node AS chosen,
       CASE WHEN coalesce(t.plugins, '') = '' THEN s.value ->> 3 ELSE (
         SELECT '[' || string_agg(format('{"plugin":%s,"raw":%s,"normalized":%s,"weight":%s,"weighted":%s}', nullif(t.plugins, '')::json -> (p.place - 1)::integer -> 0,
             CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 0 ELSE p.value #>> '{}' END,
             CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 1 ELSE p.value #>> '{}' END,
             nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1,
             (CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 1 ELSE p.value #>> '{}' END)::bigint * (nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1)::bigint), ',' ORDER BY p.place) || ']'
         FROM json_array_elements(s.value -> 3) WITH ORDINALITY p (value, place)) END AS plugins,
       d.created_at
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp CROSS JOIN json_array_elements(d.scores::json) s;

-- What each plugin thought of the best nodes.
CREATE VIEW decision_plugin_scores AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       (s.value ->> 0)::integer AS rank,
       s.value ->> 1 AS node,
       CASE json_typeof(p.value) WHEN 'object' THEN p.value ->> 'plugin' ELSE nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 0 END AS plugin,
       (CASE json_typeof(p.value) WHEN 'object' THEN p.value ->> 'raw' WHEN 'array' THEN p.value ->> 0 ELSE p.value #>> '{}' END)::bigint AS raw,
       (CASE json_typeof(p.value) WHEN 'object' THEN p.value ->> 'normalized' WHEN 'array' THEN p.value ->> 1 ELSE p.value #>> '{}' END)::bigint AS normalized,
       (CASE json_typeof(p.value) WHEN 'object' THEN p.value ->> 'weight' ELSE nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1 END)::bigint AS weight,
       CASE json_typeof(p.value) WHEN 'object' THEN (p.value ->> 'weighted')::bigint WHEN 'array' THEN (p.value ->> 1)::bigint * (nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1)::bigint
         ELSE (p.value #>> '{}')::bigint * (nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1)::bigint END AS weighted,
       d.created_at
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp CROSS JOIN json_array_elements(d.scores::json) s CROSS JOIN json_array_elements(s.value -> 3) WITH ORDINALITY p (value, place);

-- By how much the first node beat the second: 0 is a tie, which was broken by
-- a hash of pod and node. tied counts those of the recorded best that have the first one's total.
CREATE VIEW decision_margins AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       d.scores::json #>> '{0,1}' AS first,
       d.scores::json #>> '{1,1}' AS second,
       (d.scores::json #>> '{0,2}')::bigint - (d.scores::json #>> '{1,2}')::bigint AS margin,
       d.created_at,
       (SELECT count(*) FROM json_array_elements(d.scores::json) s WHERE s.value ->> 2 = d.scores::json #>> '{0,2}') AS tied,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time
FROM decisions d
WHERE json_array_length(d.scores::json) > 1;

-- Who would be evicted for whom.
CREATE VIEW decision_victims AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.namespace, d.pod, d.priority,
       v.value ->> 0 AS victim_namespace,
       v.value ->> 1 AS victim,
       v.value ->> 2 AS victim_uid,
       (v.value ->> 3)::integer AS victim_priority,
       v.value ->> 4 AS node,
       d.created_at
FROM decisions d, json_array_elements(d.victims::json) v;

-- Why pods could not be placed, hour by hour. pods counts each pod once.
CREATE VIEW pending_reasons AS
SELECT d.cluster,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       f.value ->> 0 AS plugin,
       f.value ->> 2 AS reason,
       count(DISTINCT d.namespace || '/' || d.pod) AS pods,
       count(DISTINCT d.id) AS decisions,
       sum((f.value ->> 3)::bigint)::bigint AS nodes
FROM decisions d, json_array_elements(d.failures::json) f
WHERE d.outcome = 'Unschedulable'
GROUP BY 1, 2, 3, 4;

-- The plugins that turned most nodes down, hour by hour; rank 1 is the first.
-- A node counts once in each decision that it was turned down in.
CREATE VIEW top_rejecting_plugins AS
SELECT d.cluster,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour,
       rank() OVER (PARTITION BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') ORDER BY sum((f.value ->> 3)::bigint) DESC) AS rank,
       f.value ->> 0 AS plugin,
       sum((f.value ->> 3)::bigint)::bigint AS nodes,
       count(DISTINCT d.id) AS decisions,
       count(DISTINCT d.namespace || '/' || d.pod) AS pods
FROM decisions d, json_array_elements(d.failures::json) f
GROUP BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"'), f.value ->> 0;

-- How often each node was the answer, one of the recorded best, or named among
-- the rejected, day by day (UTC). A node that no record names is not here: a
-- record names the answer, the best few, and the rejected of a reason that
-- rejected few.
CREATE VIEW node_choices AS
SELECT u.cluster, to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, u.node,
       sum(u.chosen)::bigint AS chosen, sum(u.scored)::bigint AS scored, sum(u.rejected)::bigint AS rejected
FROM (
  SELECT d.cluster, d.node, d.created_at, 1 AS chosen, 0 AS scored, 0 AS rejected FROM decisions d WHERE d.node <> '' AND d.outcome = 'Scheduled'
  UNION ALL
  SELECT s.cluster, s.node, s.created_at, 0, 1, 0 FROM decision_scores s
  UNION ALL
  SELECT r.cluster, r.node, r.created_at, 0, 0, 1 FROM decision_rejected_nodes r
) u
GROUP BY u.cluster, to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), u.node;

-- Nodes that were looked at, and never the answer, in all that is kept.
CREATE VIEW nodes_never_chosen AS
SELECT cluster, node, sum(scored)::bigint AS scored, sum(rejected)::bigint AS rejected, min(day) AS first_day, max(day) AS last_day
FROM node_choices
GROUP BY cluster, node
HAVING sum(chosen) = 0;

-- Decisions on a revision that was no longer the newest when the answer was
-- recorded: how many revisions behind, and for how many seconds it had been
-- outdated. A question about a named old snapshot is one of them.
CREATE VIEW stale_decisions AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome, d.node,
       d.cluster || '@' || d.revision AS snapshot,
       d.cluster || '@' || n.number AS newest_snapshot,
       n.number - d.revision AS revisions_behind,
       extract(epoch FROM d.created_at - o.created_at)::float8 AS stale_seconds,
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
SELECT d.cluster, d.namespace, d.pod, CASE octet_length(d.pod_uid) WHEN 16 THEN encode(d.pod_uid, 'hex')::uuid::text ELSE convert_from(d.pod_uid, 'UTF8') END AS pod_uid,
       count(*) AS decisions,
       count(CASE WHEN d.outcome = 'Unschedulable' THEN 1 END) AS unschedulable,
       to_char(min(d.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_decided,
       to_char(min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS bound,
       min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.node END) AS node,
       extract(epoch FROM min(CASE WHEN d.bound_revision > 0 AND d.outcome = 'Scheduled' THEN d.created_at END) - min(d.created_at))::float8 AS wait_seconds,
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
       to_char(min(d.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_decided,
       to_char(max(d.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_decided
FROM decisions d
WHERE d.node <> '' AND d.outcome = 'Scheduled'
GROUP BY d.cluster, d.namespace, d.pod
HAVING count(DISTINCT d.node) > 1;

-- What share of a cluster's decisions each verb and profile had, day by day (UTC).
CREATE VIEW decision_shares AS
SELECT d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, d.verb, t.profile, count(*) AS decisions,
       round(1.0 * count(*) / sum(count(*)) OVER (PARTITION BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')), 6)::float8 AS share
FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp
GROUP BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), d.verb, t.profile;

-- How long decisions took, hour by hour: the smallest duration that half of
-- them, or 99 in 100, did not exceed.
CREATE VIEW decision_durations AS
SELECT r.cluster, r.hour, r.verb, count(*) AS decisions,
       min(CASE WHEN r.place * 2 >= r.total THEN r.duration_micros END) / 1000.0::float8 AS p50_ms,
       min(CASE WHEN r.place * 100 >= r.total * 99 THEN r.duration_micros END) / 1000.0::float8 AS p99_ms,
       max(r.duration_micros) / 1000.0::float8 AS max_ms
FROM (
  SELECT d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"') AS hour, d.verb, d.duration_micros,
         row_number() OVER (PARTITION BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"'), d.verb ORDER BY d.duration_micros) AS place,
         count(*) OVER (PARTITION BY d.cluster, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"'), d.verb) AS total
  FROM decisions d
) r
GROUP BY r.cluster, r.hour, r.verb;

-- The line of a cluster's revisions.
CREATE VIEW revision_log AS
SELECT r.cluster, r.cluster || '@' || r.number AS snapshot,
       to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       r.cause, r.digest, length(r.change) AS change_bytes,
       length(c.payload) AS checkpoint_bytes,
       r.summary, r.number, r.created_at
FROM revisions r LEFT JOIN checkpoints c ON c.cluster = r.cluster AND c.number = r.number;

-- The reading role may be given a password and logged in as. The limits keep a
-- forgotten query or session from holding up the server; they are defaults, and
-- no fence against who means harm. Roles belong to the whole server, so this is
-- done where it is still to do, and left where it may not be.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'berth_reader') THEN
    RETURN;
  END IF;
  GRANT SELECT ON decision_log, decision_failures, decision_rejected_nodes, decision_scores,
    decision_plugin_scores, decision_margins, decision_victims, pending_reasons, revision_log,
    top_rejecting_plugins, node_choices, nodes_never_chosen, stale_decisions, scheduling_latency,
    flapping_pods, decision_shares, decision_durations TO berth_reader;
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'berth_reader' AND rolconnlimit >= 0) THEN
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

UPDATE schema_version SET version = 4;
