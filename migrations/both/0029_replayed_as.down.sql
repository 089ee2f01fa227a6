-- Batch replays that have not ended go on as recorded.
ALTER TABLE replays DROP COLUMN release;
