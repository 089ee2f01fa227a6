-- Questions on their way are asked again.
DROP TABLE confirmations;

PRAGMA user_version = 9;
