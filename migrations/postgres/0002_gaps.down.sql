DROP VIEW decision_gaps_log;
DROP TABLE decision_gaps;
UPDATE schema_version SET version = 1;
