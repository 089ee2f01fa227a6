-- The hash chains: a row for each commit and cluster, with the hashes of the rows that it added, or
-- which rows it took away, and the hash of the seal before. Rows of before are older than the chain.

CREATE TABLE seals (
  cluster        text   COLLATE "C" NOT NULL,
  number         bigint NOT NULL,
  kind           text   NOT NULL,        -- rows, removal, deletion
  format         bigint NOT NULL,        -- the schema whose columns the hashes cover
  after_seq      bigint NOT NULL,        -- its decisions are after_seq < seq of theirs <= seq
  seq            bigint NOT NULL,
  after_revision bigint NOT NULL,        -- its revisions, likewise
  revision       bigint NOT NULL,
  previous       bytea  NOT NULL,        -- hash of the seal before
  hash           bytea  NOT NULL,
  row_hashes     bytea  NOT NULL,        -- of its decisions, 32 bytes each
  items          text,                   -- JSON: hashes of its other rows, and what was taken away
  PRIMARY KEY (cluster, number)
);
-- Hashes do not compress.
ALTER TABLE seals ALTER COLUMN row_hashes SET STORAGE EXTERNAL;

CREATE INDEX seals_removals ON seals (cluster, number) WHERE kind <> 'rows';

-- Where each chain ends. The row of a deleted cluster stays.
ALTER TABLE clusters ADD COLUMN seals bigint NOT NULL DEFAULT 0;
ALTER TABLE clusters ADD COLUMN seal_hash bytea NOT NULL DEFAULT '';

-- Secrets that replicas share, such as what cursors are sealed with.
CREATE TABLE keys (
  name  text COLLATE "C" NOT NULL PRIMARY KEY,
  value bytea NOT NULL
);
