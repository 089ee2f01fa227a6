-- Copies of clusters: where the content of a copy's first revision is, as PostgreSQL has them.

CREATE TABLE origins (
  cluster       TEXT    NOT NULL PRIMARY KEY,
  number        INTEGER NOT NULL,
  source        TEXT    NOT NULL,
  source_number INTEGER NOT NULL,
  FOREIGN KEY (cluster, number) REFERENCES revisions (cluster, number) ON DELETE CASCADE,
  FOREIGN KEY (source, source_number) REFERENCES revisions (cluster, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX origins_by_source ON origins (source, source_number);
