-- Which of the servers that share the database follows which cluster's
-- apiserver and writes what it sees, and how fresh that was. A row is a lease.

CREATE TABLE leads (
  cluster  text COLLATE "C" PRIMARY KEY,
  owner    text        NOT NULL,
  synced   boolean     NOT NULL,
  stale_ms bigint      NOT NULL CHECK (stale_ms >= 0),
  renewed  timestamptz NOT NULL,
  until    timestamptz NOT NULL
);

UPDATE schema_version SET version = 8;
