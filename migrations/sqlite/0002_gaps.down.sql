DROP VIEW decision_gaps_log;
DROP TABLE decision_gaps;

PRAGMA user_version = 1;
