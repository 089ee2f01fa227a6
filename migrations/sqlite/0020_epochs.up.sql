-- The epochs of the chains, as PostgreSQL has them. A file has one timeline: nothing is written here.

CREATE TABLE chain_epochs (
  number         INTEGER NOT NULL,
  cluster        TEXT    NOT NULL, -- '': of the database
  instance       TEXT    NOT NULL, -- the server that says so
  system         TEXT    NOT NULL,
  timeline       INTEGER NOT NULL,
  met_at         INTEGER NOT NULL, -- microseconds since 1970, UTC
  lost           INTEGER,
  since          INTEGER,
  until          INTEGER,
  first_revision INTEGER,
  last_revision  INTEGER,
  ids            TEXT,
  PRIMARY KEY (number, cluster, instance)
) STRICT, WITHOUT ROWID;
