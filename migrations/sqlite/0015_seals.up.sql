-- The hash chains: a row for each commit and cluster, with the hashes of the rows that it added, or
-- which rows it took away, and the hash of the seal before. Rows of before are older than the chain.

CREATE TABLE seals (
  cluster        TEXT    NOT NULL,
  number         INTEGER NOT NULL,
  kind           TEXT    NOT NULL,       -- rows, removal, deletion
  format         INTEGER NOT NULL,       -- the schema whose columns the hashes cover
  after_seq      INTEGER NOT NULL,       -- its decisions are after_seq < seq of theirs <= seq
  seq            INTEGER NOT NULL,
  after_revision INTEGER NOT NULL,       -- its revisions, likewise
  revision       INTEGER NOT NULL,
  previous       BLOB    NOT NULL,       -- hash of the seal before
  hash           BLOB    NOT NULL,
  row_hashes     BLOB    NOT NULL,       -- of its decisions, 32 bytes each
  items          TEXT,                   -- JSON: hashes of its other rows, and what was taken away
  PRIMARY KEY (cluster, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX seals_removals ON seals (cluster, number) WHERE kind <> 'rows';

-- Where each chain ends. The row of a deleted cluster stays.
ALTER TABLE clusters ADD COLUMN seals INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clusters ADD COLUMN seal_hash BLOB NOT NULL DEFAULT x'';

-- Secrets that replicas share, such as what cursors are sealed with.
CREATE TABLE keys (
  name  TEXT NOT NULL PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;
