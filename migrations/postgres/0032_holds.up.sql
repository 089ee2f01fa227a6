-- Holds: placements whose pods are on their nodes until a time. A row is written with the revision
-- that makes or ends the hold, in one transaction; the chain of revisions lets one of them win.

CREATE TABLE placement_holds (
  id             text        COLLATE "C" NOT NULL PRIMARY KEY, -- UUIDv7: the placement's
  cluster        text        COLLATE "C" NOT NULL,
  state          text        NOT NULL,                         -- held, committed, released, expired
  created_at     timestamptz NOT NULL,
  expires_at     timestamptz NOT NULL,
  ended_at       timestamptz,                                  -- NULL: it has not
  revision       bigint      NOT NULL,                         -- that made it
  ended_revision bigint,                                       -- that ended it; NULL: none has
  namespaces     text        NOT NULL,                         -- JSON: of its pods, each once
  pod_count      bigint      NOT NULL,
  pods           text        NOT NULL,                         -- JSON: namespace, name, uid, node, decision
  undo           bytea       NOT NULL,                         -- what its end without a commit writes; empty once it has ended
  asked_by       text,                                         -- NULL: not known
  ended_by       text                                          -- NULL: no caller
);
CREATE INDEX placement_holds_by_cluster ON placement_holds (cluster, id);
CREATE INDEX placement_holds_due ON placement_holds (expires_at, id) WHERE state = 'held';
CREATE INDEX placement_holds_held ON placement_holds (cluster, expires_at, id) WHERE state = 'held';
CREATE INDEX placement_holds_ended ON placement_holds (ended_at);
