-- A server that does not follow a cluster asks the one that does whether the
-- newest revision holds all that the apiserver has. wanted counts the questions,
-- given is the last one answered, and revision what it was answered with.

CREATE TABLE confirmations (
  cluster  TEXT PRIMARY KEY,
  wanted   INTEGER NOT NULL,
  given    INTEGER NOT NULL CHECK (given <= wanted),
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 10;
