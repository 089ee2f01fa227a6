-- Takes the whole schema away with everything in it.
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

PRAGMA user_version = 0;
