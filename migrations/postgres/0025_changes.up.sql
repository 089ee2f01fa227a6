-- What was changed, and by whom: priority classes, of which the rows stay, and the objects of
-- revisions, which outlive the revisions. Both are in the hash chains.

CREATE TABLE priority_class_changes (
  cluster            text    COLLATE "C" NOT NULL,
  seq                bigint  NOT NULL,              -- from 1, without a gap
  action             text    COLLATE "C" NOT NULL,  -- create, update, delete
  name               text    COLLATE "C" NOT NULL,
  old_value          integer,                       -- the old ones are NULL where it was created,
  new_value          integer,                       -- the new ones where it was deleted
  old_policy         text    COLLATE "C",
  new_policy         text    COLLATE "C",
  old_global_default integer,                       -- 0, 1
  new_global_default integer,
  source             text    COLLATE "C" NOT NULL,  -- store, snapshot
  revision           bigint,                        -- of a snapshot
  asked_by           text    COLLATE "C",
  peer               text,
  request_id         text    COLLATE "C",
  created_at         timestamptz NOT NULL,
  PRIMARY KEY (cluster, seq)
);

CREATE TABLE revision_changes (
  cluster    text    COLLATE "C" NOT NULL,
  revision   bigint  NOT NULL,
  place      integer NOT NULL,                      -- from 1
  changes    integer NOT NULL,                      -- objects that the revision changed; there may be fewer rows
  action     text    COLLATE "C" NOT NULL,          -- apply, delete
  kind       text    COLLATE "C" NOT NULL,
  namespace  text    COLLATE "C",                   -- NULL: it is in none
  name       text    COLLATE "C" NOT NULL,
  uid        text    COLLATE "C",
  node       text    COLLATE "C",                   -- of a bind
  changed    text,                                  -- JSON: paths, at most 10; NULL: it is new or was deleted
  cause      text    COLLATE "C" NOT NULL,          -- of the revision
  asked_by   text    COLLATE "C",
  created_at timestamptz NOT NULL,
  PRIMARY KEY (cluster, revision, place)
);
-- When an object went; binds, which are most rows, do not pay for it.
CREATE INDEX revision_changes_deleted ON revision_changes (cluster, namespace, name, revision) WHERE action = 'delete';
