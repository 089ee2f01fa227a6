-- Priority classes beside those that snapshots hold. The value, policy and
-- default of a class are columns for SQL; payload is the whole object.

-- One row a cluster that has had classes: its version grows by one with every
-- write, is the resourceVersion of what was written, and never goes back, not
-- even where the cluster is deleted: whoever polls it misses nothing. Every
-- write takes this row's lock first, so that replicas take turns.
CREATE TABLE priority_class_versions (
  cluster text   COLLATE "C" NOT NULL PRIMARY KEY,
  version bigint NOT NULL
);

CREATE TABLE priority_classes (
  cluster           text    COLLATE "C" NOT NULL,
  name              text    COLLATE "C" NOT NULL,
  version           bigint  NOT NULL,     -- resourceVersion
  value             integer NOT NULL,
  global_default    boolean NOT NULL,
  preemption_policy text    NOT NULL,
  payload           text    NOT NULL,     -- JSON, without the resourceVersion
  PRIMARY KEY (cluster, name)
);

-- Whatever the program does, a cluster has one default class at most.
CREATE UNIQUE INDEX priority_classes_default ON priority_classes (cluster) WHERE global_default;

UPDATE schema_version SET version = 5;
