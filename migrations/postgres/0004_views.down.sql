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
DO $$
DECLARE
  part record;
BEGIN
  FOR part IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'decisions_after'::regclass
  LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', part.relname, part.relname || '_after');
  END LOOP;
END
$$;

CREATE TABLE decisions (
  cluster         text        COLLATE "C" NOT NULL,
  id              text        COLLATE "C" NOT NULL, -- UUIDv7
  created_at      timestamptz NOT NULL,
  decided_as_of   timestamptz NOT NULL,   -- the time that the engine was given
  revision        bigint      NOT NULL,
  bound_revision  bigint      NOT NULL,   -- the revision that a bind made, 0: none
  verb            text        NOT NULL,
  outcome         text        NOT NULL,
  namespace       text        NOT NULL,
  pod             text        COLLATE "C" NOT NULL,
  pod_uid         text        NOT NULL,
  node            text        COLLATE "C" NOT NULL,
  nominated_node  text        NOT NULL,
  priority        integer     NOT NULL,
  nodes_total     bigint      NOT NULL,
  nodes_feasible  bigint      NOT NULL,
  message         text        NOT NULL,
  profile         text        NOT NULL,
  profile_digest  text        NOT NULL,
  engine          text        NOT NULL,
  semantics       text        NOT NULL,
  snapshot_digest text        NOT NULL,
  pod_digest      text        NOT NULL,
  answer_digest   text        NOT NULL,
  duration_micros bigint      NOT NULL,
  failures        text,                   -- [[plugin, code, reason, nodes, [name…]]…]
  scores          text,                   -- [[rank, node, total, [{plugin, …}…]]…]
  victims         text,                   -- [[namespace, pod, uid, priority, node]…]
  input           bytea                   -- what a replay needs beside the revision
) PARTITION BY RANGE (created_at);

DO $$
DECLARE
  part record;
BEGIN
  FOR part IN
    SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'decisions_after'::regclass
  LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF decisions %s', left(part.relname, -6), part.bound);
  END LOOP;
END
$$;

INSERT INTO decisions (cluster, id, created_at, decided_as_of, revision, bound_revision, verb, outcome, namespace, pod, pod_uid, node, nominated_node,
  priority, nodes_total, nodes_feasible, message, profile, profile_digest, engine, semantics, snapshot_digest, pod_digest, answer_digest,
  duration_micros, failures, scores, victims, input)
SELECT d.cluster, d.id, d.created_at, d.decided_as_of, d.revision, d.bound_revision, d.verb, d.outcome, d.namespace, d.pod,
  CASE WHEN octet_length(d.pod_uid) = 16 THEN encode(d.pod_uid, 'hex')::uuid::text
       WHEN octet_length(d.pod_uid) > 16 AND encode(substring(d.pod_uid FROM 17), 'hex') ~ '^(01)*$' THEN convert_from(substring(d.pod_uid FOR octet_length(d.pod_uid) - 1), 'UTF8')
       ELSE convert_from(d.pod_uid, 'UTF8') END,
  d.node, d.nominated_node, d.priority, d.nodes_total, d.nodes_feasible, d.message, t.profile, t.profile_digest, t.engine, t.semantics,
  CASE WHEN octet_length(d.snapshot_digest) = 32 THEN 'sha256:' || encode(d.snapshot_digest, 'hex')
       WHEN octet_length(d.snapshot_digest) > 32 AND encode(substring(d.snapshot_digest FROM 33), 'hex') ~ '^(01)*$' THEN convert_from(substring(d.snapshot_digest FOR octet_length(d.snapshot_digest) - 1), 'UTF8')
       ELSE convert_from(d.snapshot_digest, 'UTF8') END,
  CASE WHEN octet_length(d.pod_digest) = 32 THEN 'sha256:' || encode(d.pod_digest, 'hex')
       WHEN octet_length(d.pod_digest) > 32 AND encode(substring(d.pod_digest FROM 33), 'hex') ~ '^(01)*$' THEN convert_from(substring(d.pod_digest FOR octet_length(d.pod_digest) - 1), 'UTF8')
       ELSE convert_from(d.pod_digest, 'UTF8') END,
  CASE WHEN octet_length(d.answer_digest) = 32 THEN 'sha256:' || encode(d.answer_digest, 'hex')
       WHEN octet_length(d.answer_digest) > 32 AND encode(substring(d.answer_digest FROM 33), 'hex') ~ '^(01)*$' THEN convert_from(substring(d.answer_digest FOR octet_length(d.answer_digest) - 1), 'UTF8')
       ELSE convert_from(d.answer_digest, 'UTF8') END,
  d.duration_micros,
  CASE WHEN d.failures IS NOT NULL THEN (
    SELECT '[' || string_agg(format('[%s,%s,%s,%s%s]', f.value -> 0, to_json(CASE (f.value -> 1)::text WHEN '1' THEN 'Unschedulable' WHEN '2' THEN 'UnschedulableAndUnresolvable' ELSE f.value ->> 1 END), f.value -> 2, f.value -> 3,
      (SELECT ',[' || string_agg(to_json(coalesce(f.value ->> 5, '') || n.value || coalesce(f.value ->> 6, ''))::text, ',' ORDER BY n.place) || ']'
       FROM json_array_elements_text(f.value -> 4) WITH ORDINALITY n (value, place))), ',' ORDER BY f.place) || ']'
    FROM json_array_elements(d.failures::json) WITH ORDINALITY f (value, place)) END,
  CASE WHEN t.plugins = '' THEN d.scores WHEN d.scores IS NOT NULL THEN (
    SELECT '[' || string_agg(format('[%s,%s,%s,%s]', s.value -> 0, s.value -> 1, s.value -> 2,
      CASE WHEN coalesce(t.plugins, '') = '' THEN s.value ->> 3 ELSE (
         SELECT '[' || string_agg(format('{"plugin":%s,"raw":%s,"normalized":%s,"weight":%s,"weighted":%s}', nullif(t.plugins, '')::json -> (p.place - 1)::integer -> 0,
             CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 0 ELSE p.value #>> '{}' END,
             CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 1 ELSE p.value #>> '{}' END,
             nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1,
             (CASE json_typeof(p.value) WHEN 'array' THEN p.value ->> 1 ELSE p.value #>> '{}' END)::bigint * (nullif(t.plugins, '')::json -> (p.place - 1)::integer ->> 1)::bigint), ',' ORDER BY p.place) || ']'
         FROM json_array_elements(s.value -> 3) WITH ORDINALITY p (value, place)) END), ',' ORDER BY s.place) || ']'
    FROM json_array_elements(d.scores::json) WITH ORDINALITY s (value, place)) END,
  d.victims, d.input
FROM decisions_after d JOIN stamps t ON t.id = d.stamp;
DROP TABLE decisions_after;
DROP TABLE stamps;

ALTER TABLE decisions ADD PRIMARY KEY (cluster, created_at, id);
CREATE INDEX decisions_by_id ON decisions (id);
CREATE INDEX decisions_by_pod ON decisions (cluster, pod, created_at, id);
CREATE INDEX decisions_by_node ON decisions (cluster, node, created_at, id) WHERE node <> '';
CREATE INDEX decisions_by_revision ON decisions (cluster, revision, created_at, id);
CREATE INDEX decisions_by_bound_revision ON decisions (cluster, bound_revision) WHERE bound_revision > 0;

-- Views for people, with the embedded store's names and columns. Narrow them
-- with the raw columns (cluster, created_at, pod, node), which have indexes;
-- the column time is for reading.

CREATE VIEW decision_log AS
SELECT cluster,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       verb, namespace, pod, outcome, node, nominated_node, message,
       nodes_total, nodes_feasible, priority, profile,
       cluster || '@' || revision AS snapshot,
       CASE WHEN bound_revision > 0 THEN cluster || '@' || bound_revision END AS bound_snapshot,
       duration_micros / 1000.0::float8 AS duration_ms,
       engine, semantics, id, created_at
FROM decisions;

-- How many nodes each plugin rejected, and why.
CREATE VIEW decision_failures AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod, d.outcome,
       f.value ->> 0 AS plugin,
       f.value ->> 1 AS code,
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
       n.value AS node,
       f.value ->> 0 AS plugin,
       f.value ->> 1 AS code,
       f.value ->> 2 AS reason,
       (f.value ->> 3)::bigint AS nodes,
       d.created_at
FROM decisions d, json_array_elements(d.failures::json) f, json_array_elements_text(f.value -> 4) n;

-- The best nodes of each decision.
CREATE VIEW decision_scores AS
SELECT d.cluster, d.id AS decision_id,
       to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       d.verb, d.namespace, d.pod,
       (s.value ->> 0)::integer AS rank,
       s.value ->> 1 AS node,
       (s.value ->> 2)::bigint AS total,
       s.value ->> 1 = d.node AS chosen,
       s.value ->> 3 AS plugins,
       d.created_at
FROM decisions d, json_array_elements(d.scores::json) s;

-- What each plugin thought of the best nodes.
CREATE VIEW decision_plugin_scores AS
SELECT d.cluster, d.id AS decision_id, d.namespace, d.pod,
       (s.value ->> 0)::integer AS rank,
       s.value ->> 1 AS node,
       p.value ->> 'plugin' AS plugin,
       (p.value ->> 'raw')::bigint AS raw,
       (p.value ->> 'normalized')::bigint AS normalized,
       (p.value ->> 'weight')::bigint AS weight,
       (p.value ->> 'weighted')::bigint AS weighted,
       d.created_at
FROM decisions d, json_array_elements(d.scores::json) s, json_array_elements(s.value -> 3) p;

-- By how much the first node beat the second: 0 is a tie.
CREATE VIEW decision_margins AS
SELECT cluster, id AS decision_id, namespace, pod,
       scores::json #>> '{0,1}' AS first,
       scores::json #>> '{1,1}' AS second,
       (scores::json #>> '{0,2}')::bigint - (scores::json #>> '{1,2}')::bigint AS margin,
       created_at
FROM decisions
WHERE json_array_length(scores::json) > 1;

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

CREATE VIEW revision_log AS
SELECT r.cluster, r.cluster || '@' || r.number AS snapshot,
       to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       r.cause, r.digest, length(r.change) AS change_bytes,
       length(c.payload) AS checkpoint_bytes,
       r.summary, r.number, r.created_at
FROM revisions r LEFT JOIN checkpoints c ON c.cluster = r.cluster AND c.number = r.number;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'berth_reader') THEN
    GRANT SELECT ON decision_log, decision_failures, decision_rejected_nodes, decision_scores,
    decision_plugin_scores, decision_margins, decision_victims, pending_reasons, revision_log TO berth_reader;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'berth_reader is not let in: %', SQLERRM;
END
$$;

UPDATE schema_version SET version = 3;
