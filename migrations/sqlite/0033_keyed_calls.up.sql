-- Calls with an Idempotency-Key, for a day: who has claimed one, what it wrote, and its answer. No seal
-- covers them: they are no part of the log.

CREATE TABLE keyed_calls (
  caller      TEXT    NOT NULL, -- kind:name
  key         TEXT    NOT NULL,
  token       TEXT    NOT NULL, -- of the claim
  route       TEXT    NOT NULL, -- method, path and query
  state       TEXT    NOT NULL, -- begun, written, answered
  begun_at    INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  about       TEXT    NOT NULL, -- the path of what was written; empty until something is
  body        BLOB,             -- stands for the request's body; NULL: not known yet
  answer      BLOB,             -- status, headers and body, compressed; NULL: not known yet
  PRIMARY KEY (caller, key)
) STRICT;

CREATE INDEX keyed_calls_by_age ON keyed_calls (begun_at);
