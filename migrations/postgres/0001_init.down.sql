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
DROP VIEW revision_log;
DROP VIEW pending_reasons;
DROP VIEW decision_victims;
DROP VIEW decision_margins;
DROP VIEW decision_plugin_scores;
DROP VIEW decision_scores;
DROP VIEW decision_rejected_nodes;
DROP VIEW decision_failures;
DROP VIEW decision_log;
DROP TABLE decisions;
DROP TABLE profiles;
DROP TABLE checkpoints;
DROP TABLE revisions;
DROP TABLE clusters;
DROP TABLE schema_version;
