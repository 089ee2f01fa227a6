-- What the log says of its own gaps: decisions that were answered and are not
-- on record, as --audit=relaxed allows. lost NULL: nobody could count, since
-- the process was killed.
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

CREATE VIEW decision_gaps_log AS
SELECT cluster,
       to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time,
       to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS until_time,
       lost, cause, instance, id, since, until
FROM decision_gaps;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'berth_reader') THEN
    GRANT SELECT ON decision_gaps_log TO berth_reader;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'berth_reader is not let in: %', SQLERRM;
END
$$;

UPDATE schema_version SET version = 2;
