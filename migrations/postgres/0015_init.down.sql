-- Takes the whole schema away with everything in it. The role berth_reader
-- stays: it belongs to the whole server, and other databases may use it.
DO $$
DECLARE
  detached text;
BEGIN
  -- Partitions that retention took out and did not come to drop.
  FOR detached IN
    SELECT c.relname FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
      AND NOT c.relispartition AND c.relname ~ '^decisions_p[0-9]{6}$'
  LOOP
    EXECUTE format('DROP TABLE %I', detached);
  END LOOP;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'berth_reader') THEN
    EXECUTE format('REVOKE USAGE ON SCHEMA %I FROM berth_reader', current_schema());
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'berth_reader keeps its right to the schema: %', SQLERRM;
END
$$;
DROP TABLE keys;
DROP TABLE seals;
DROP TABLE access_log;
DROP TABLE tokens;
DROP TABLE capacities;
DROP TABLE simulation_parts;
DROP TABLE simulations;
DROP TABLE confirmations;
DROP TABLE leads;
DROP TABLE priority_classes;
DROP TABLE priority_class_versions;
DROP TABLE replay_differences;
DROP TABLE replay_parts;
DROP TABLE replays;
DROP TABLE decision_gaps;
DROP TABLE decisions;
DROP TABLE stamps;
DROP TABLE profiles;
DROP TABLE checkpoints;
DROP TABLE revisions;
DROP TABLE clusters;
DROP TABLE schema_version;
