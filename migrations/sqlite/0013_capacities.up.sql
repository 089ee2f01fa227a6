-- How full a cluster was at a revision, a row for each resource: measured for the gauges, at most
-- once an interval. The rows go with their revision.

CREATE TABLE capacities (
  cluster       TEXT    NOT NULL,
  revision      INTEGER NOT NULL,
  resource      TEXT    NOT NULL,
  measured_at   INTEGER NOT NULL, -- microseconds since 1970, UTC
  allocatable   INTEGER NOT NULL, -- cpu in millicores
  requested     INTEGER NOT NULL,
  free          INTEGER NOT NULL, -- on nodes that are not cordoned
  stranded      INTEGER NOT NULL,
  fragmentation REAL,             -- percent; NULL: no common shape requests it, or nothing is free
  nodes         INTEGER NOT NULL,
  nodes_in_use  INTEGER NOT NULL,
  nodes_bound   INTEGER NOT NULL,
  PRIMARY KEY (cluster, revision, resource),
  FOREIGN KEY (cluster, revision) REFERENCES revisions (cluster, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
