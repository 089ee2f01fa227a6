DROP TABLE replay_differences;
DROP TABLE replay_parts;
DROP TABLE replays;

UPDATE schema_version SET version = 2;
