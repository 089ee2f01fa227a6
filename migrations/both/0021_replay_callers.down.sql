DROP INDEX replays_by_caller;
ALTER TABLE replays DROP COLUMN claimed_at;
ALTER TABLE replays DROP COLUMN asked_by;
