-- Facts of each pod as it was judged, by its digest: whose it is, what it requests, its labels. They
-- are written with the first decision on it, and seen_at again once a day. No seal covers them: the
-- pod is in the input of its records.

CREATE TABLE judged_pods (
  cluster        text COLLATE "C" NOT NULL,
  pod_digest     text COLLATE "C" NOT NULL, -- as text, so that views join by it through the index
  namespace      text NOT NULL,
  name           text NOT NULL,
  uid            text NOT NULL,
  owner_kind     text,
  owner_name     text,
  priority_class text,
  priority       integer NOT NULL,
  scheduler      text NOT NULL,
  cpu_milli      bigint NOT NULL,
  memory_bytes   bigint NOT NULL,
  requests       text NOT NULL, -- JSON
  labels         text NOT NULL, -- JSON
  pod_created_at timestamptz,          -- NULL: not known
  seen_at        timestamptz NOT NULL,
  PRIMARY KEY (cluster, pod_digest)
);
