-- What was changed, and by whom: priority classes, of which the rows stay, and the objects of
-- revisions, which outlive the revisions. Both are in the hash chains.

CREATE TABLE priority_class_changes (
  cluster            TEXT    NOT NULL,
  seq                INTEGER NOT NULL,          -- from 1, without a gap
  action             TEXT    NOT NULL,          -- create, update, delete
  name               TEXT    NOT NULL,
  old_value          INTEGER,                   -- the old ones are NULL where it was created,
  new_value          INTEGER,                   -- the new ones where it was deleted
  old_policy         TEXT,
  new_policy         TEXT,
  old_global_default INTEGER,                   -- 0, 1
  new_global_default INTEGER,
  source             TEXT    NOT NULL,          -- store, snapshot
  revision           INTEGER,                   -- of a snapshot
  asked_by           TEXT,
  peer               TEXT,
  request_id         TEXT,
  created_at         INTEGER NOT NULL,          -- microseconds since 1970, UTC
  PRIMARY KEY (cluster, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE revision_changes (
  cluster    TEXT    NOT NULL,
  revision   INTEGER NOT NULL,
  place      INTEGER NOT NULL,                  -- from 1
  changes    INTEGER NOT NULL,                  -- objects that the revision changed; there may be fewer rows
  action     TEXT    NOT NULL,                  -- apply, delete
  kind       TEXT    NOT NULL,
  namespace  TEXT,                              -- NULL: it is in none
  name       TEXT    NOT NULL,
  uid        TEXT,
  node       TEXT,                              -- of a bind
  changed    TEXT,                              -- JSON: paths, at most 10; NULL: it is new or was deleted
  cause      TEXT    NOT NULL,                  -- of the revision
  asked_by   TEXT,
  created_at INTEGER NOT NULL,                  -- microseconds since 1970, UTC
  PRIMARY KEY (cluster, revision, place)
) STRICT, WITHOUT ROWID;
-- When an object went; binds, which are most rows, do not pay for it.
CREATE INDEX revision_changes_deleted ON revision_changes (cluster, namespace, name, revision) WHERE action = 'delete';
