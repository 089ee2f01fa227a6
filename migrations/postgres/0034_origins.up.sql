-- Copies of clusters: where the content of a copy's first revision is. That revision has neither a change
-- nor, as long as nothing needs one, a checkpoint.

CREATE TABLE origins (
  cluster       text   COLLATE "C" NOT NULL PRIMARY KEY, -- the copy
  number        bigint NOT NULL,                         -- its first revision
  source        text   COLLATE "C" NOT NULL,
  source_number bigint NOT NULL,
  FOREIGN KEY (cluster, number) REFERENCES revisions (cluster, number) ON DELETE CASCADE,
  -- Programs that do not know copies cannot take away what one is of.
  FOREIGN KEY (source, source_number) REFERENCES revisions (cluster, number)
);
CREATE INDEX origins_by_source ON origins (source, source_number);
