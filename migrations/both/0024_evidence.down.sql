-- The records of replays and of refused calls go, and when seals were written.
ALTER TABLE seals DROP COLUMN created_at;
DROP TABLE denials;
ALTER TABLE replays DROP COLUMN semantics;
ALTER TABLE replays DROP COLUMN through_seq;
DROP TABLE replay_runs;
DROP TABLE replay_results;
