-- Sums of the decision log by the hour, and the stretches of time in which pods waited. All follow
-- from the log: a server adds what is new to them, by the places of the log, and the row of a
-- cluster in rollups says how far they are.

CREATE TABLE rollups (
  cluster     text        COLLATE "C" NOT NULL PRIMARY KEY,
  seq         bigint      NOT NULL DEFAULT 0, -- the last place of the log that is in the sums
  revision    bigint      NOT NULL DEFAULT 0, -- the last revision whose changes of pods are in waits
  built       bigint      NOT NULL DEFAULT 0, -- how often they were begun anew
  -- Of the places up to skip_to the records before skip_before are not counted: the hours before it
  -- stayed when the sums were begun anew, since part of their records was deleted for its age.
  skip_to     bigint      NOT NULL DEFAULT 0,
  skip_before timestamptz NOT NULL DEFAULT 'epoch'
);

CREATE TABLE hourly_decisions (
  cluster   text        COLLATE "C" NOT NULL,
  hour      timestamptz NOT NULL,
  verb      text        COLLATE "C" NOT NULL,
  outcome   text        COLLATE "C" NOT NULL,
  purpose   text        COLLATE "C" NOT NULL, -- '': not known
  namespace text        COLLATE "C" NOT NULL,
  stamp     bigint      NOT NULL,
  decisions bigint      NOT NULL,
  bound     bigint      NOT NULL,             -- of them, those that made a revision
  first_at  timestamptz NOT NULL,
  last_at   timestamptz NOT NULL,
  PRIMARY KEY (cluster, hour, verb, outcome, purpose, namespace, stamp)
);

-- Of live attempts alone. The row whose pool is (all) is of all nodes; the others count the same
-- nodes by pool, (unknown) where the record does not.
CREATE TABLE hourly_failures (
  cluster        text        COLLATE "C" NOT NULL,
  hour           timestamptz NOT NULL,
  namespace      text        COLLATE "C" NOT NULL,
  plugin         text        COLLATE "C" NOT NULL,
  code           text        COLLATE "C" NOT NULL,
  reason_key     bytea       NOT NULL,        -- of reason, which may be longer than an index takes
  pool           text        COLLATE "C" NOT NULL,
  reason         text        NOT NULL,
  decisions      bigint      NOT NULL,
  nodes          bigint      NOT NULL,
  unplaced       bigint      NOT NULL,        -- of the decisions, those that found no node
  unplaced_nodes bigint      NOT NULL,
  PRIMARY KEY (cluster, hour, namespace, plugin, code, reason_key, pool)
);

CREATE TABLE hourly_placements (
  cluster    text        COLLATE "C" NOT NULL,
  hour       timestamptz NOT NULL,
  node       text        COLLATE "C" NOT NULL,
  namespace  text        COLLATE "C" NOT NULL,
  placements bigint      NOT NULL,
  PRIMARY KEY (cluster, hour, node, namespace)
);

CREATE TABLE hourly_durations (
  cluster      text        COLLATE "C" NOT NULL,
  hour         timestamptz NOT NULL,
  verb         text        COLLATE "C" NOT NULL,
  upto_micros  bigint      NOT NULL,          -- the bucket: over_micros < duration <= upto_micros
  over_micros  bigint      NOT NULL,
  decisions    bigint      NOT NULL,
  total_micros bigint      NOT NULL,
  max_micros   bigint      NOT NULL,
  PRIMARY KEY (cluster, hour, verb, upto_micros)
);

CREATE TABLE waits (
  cluster   text        COLLATE "C" NOT NULL,
  namespace text        COLLATE "C" NOT NULL,
  pod       text        COLLATE "C" NOT NULL,
  pod_uid   text        COLLATE "C" NOT NULL,
  since     timestamptz NOT NULL,
  cause     text        COLLATE "C" NOT NULL, -- a plugin
  until     timestamptz,                      -- NULL: it waits
  seen      timestamptz NOT NULL,             -- the newest record that says so
  PRIMARY KEY (cluster, pod, namespace, pod_uid, since)
);
CREATE INDEX waits_by_time ON waits (cluster, until);
