-- Priority classes beside those that snapshots hold. The value, policy and
-- default of a class are columns for SQL; payload is the whole object.

-- One row a cluster that has had classes: its version grows by one with every
-- write, is the resourceVersion of what was written, and never goes back, not
-- even where the cluster is deleted: whoever polls it misses nothing.
CREATE TABLE priority_class_versions (
  cluster TEXT    NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE priority_classes (
  cluster           TEXT    NOT NULL,
  name              TEXT    NOT NULL,
  version           INTEGER NOT NULL,     -- resourceVersion
  value             INTEGER NOT NULL,
  global_default    INTEGER NOT NULL CHECK (global_default IN (0, 1)),
  preemption_policy TEXT    NOT NULL,
  payload           TEXT    NOT NULL,     -- JSON, without the resourceVersion
  PRIMARY KEY (cluster, name)
) STRICT, WITHOUT ROWID;

-- Whatever the program does, a cluster has one default class at most.
CREATE UNIQUE INDEX priority_classes_default ON priority_classes (cluster) WHERE global_default = 1;

PRAGMA user_version = 5;
