-- Facts of each pod as it was judged, by its digest: whose it is, what it requests, its labels. They
-- are written with the first decision on it, and seen_at again once a day. No seal covers them: the
-- pod is in the input of its records.

CREATE TABLE judged_pods (
  cluster        TEXT NOT NULL,
  pod_digest     TEXT NOT NULL, -- as text, so that views join by it through the index
  namespace      TEXT NOT NULL,
  name           TEXT NOT NULL,
  uid            TEXT NOT NULL,
  owner_kind     TEXT,
  owner_name     TEXT,
  priority_class TEXT,
  priority       INTEGER NOT NULL,
  scheduler      TEXT NOT NULL,
  cpu_milli      INTEGER NOT NULL,
  memory_bytes   INTEGER NOT NULL,
  requests       TEXT NOT NULL, -- JSON
  labels         TEXT NOT NULL, -- JSON
  pod_created_at INTEGER,          -- NULL: not known
  seen_at        INTEGER NOT NULL,
  PRIMARY KEY (cluster, pod_digest)
) STRICT, WITHOUT ROWID;
