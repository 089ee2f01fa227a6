-- How full a cluster was at a revision, a row for each resource: measured for the gauges, at most
-- once an interval. The rows go with their revision.

CREATE TABLE capacities (
  cluster       text        COLLATE "C" NOT NULL,
  revision      bigint      NOT NULL,
  resource      text        COLLATE "C" NOT NULL,
  measured_at   timestamptz NOT NULL,
  allocatable   bigint      NOT NULL, -- cpu in millicores
  requested     bigint      NOT NULL,
  free          bigint      NOT NULL, -- on nodes that are not cordoned
  stranded      bigint      NOT NULL,
  fragmentation float8,               -- percent; NULL: no common shape requests it, or nothing is free
  nodes         bigint      NOT NULL,
  nodes_in_use  bigint      NOT NULL,
  nodes_bound   bigint      NOT NULL,
  PRIMARY KEY (cluster, revision, resource),
  FOREIGN KEY (cluster, revision) REFERENCES revisions (cluster, number) ON DELETE CASCADE
);
