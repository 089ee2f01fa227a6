-- A server that does not follow a cluster asks the one that does whether the
-- newest revision holds all that the apiserver has. wanted counts the questions,
-- given is the last one answered, and revision what it was answered with.

CREATE TABLE confirmations (
  cluster  text COLLATE "C" PRIMARY KEY,
  wanted   bigint NOT NULL,
  given    bigint NOT NULL CHECK (given <= wanted),
  revision bigint NOT NULL
);

UPDATE schema_version SET version = 10;
