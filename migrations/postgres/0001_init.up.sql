-- The first schema of the shared store, the same as the embedded one's where
-- the dialects allow. No BEGIN or COMMIT here: the file is one query.

-- Which migration has taken effect; written by each file's last statement.
CREATE TABLE schema_version (
  version integer NOT NULL
);

-- One row a cluster: the head of its chain of revisions and its books, kept in
-- the same transaction as what they count. Every write takes this row's lock
-- first, and so the writers of all replicas take turns, cluster by cluster.
CREATE TABLE clusters (
  cluster   text   COLLATE "C" NOT NULL PRIMARY KEY,
  newest    bigint NOT NULL DEFAULT 0,   -- number of the newest revision, 0: none
  token     text   NOT NULL DEFAULT '',  -- its token
  revisions bigint NOT NULL DEFAULT 0,
  decisions bigint NOT NULL DEFAULT 0
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
  PRIMARY KEY (cluster, number),
  UNIQUE (cluster, parent_token)
);

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
  input           bytea,                  -- what a replay needs beside the revision
  PRIMARY KEY (cluster, created_at, id)   -- the list newest first, too
) PARTITION BY RANGE (created_at);

CREATE TABLE decisions_default PARTITION OF decisions DEFAULT;

CREATE INDEX decisions_by_id ON decisions (id);
CREATE INDEX decisions_by_pod ON decisions (cluster, pod, created_at, id);
CREATE INDEX decisions_by_node ON decisions (cluster, node, created_at, id) WHERE node <> '';
CREATE INDEX decisions_by_revision ON decisions (cluster, revision);
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

-- A role for people and dashboards: it reads the views and nothing else. Where
-- the migrating role may not make roles, a database's owner does so by hand.
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
  GRANT SELECT ON decision_log, decision_failures, decision_rejected_nodes, decision_scores,
    decision_plugin_scores, decision_margins, decision_victims, pending_reasons, revision_log TO berth_reader;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'berth_reader is not let in: %', SQLERRM;
END
$$;

INSERT INTO schema_version VALUES (1);
