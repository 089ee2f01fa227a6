DROP INDEX decisions_by_revision;
CREATE INDEX decisions_by_revision ON decisions (cluster, revision);
DROP TABLE replay_differences;
DROP TABLE replay_parts;
DROP TABLE replays;

PRAGMA user_version = 1;
