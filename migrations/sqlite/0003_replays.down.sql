DROP TABLE replay_differences;
DROP TABLE replay_parts;
DROP TABLE replays;

PRAGMA user_version = 2;
