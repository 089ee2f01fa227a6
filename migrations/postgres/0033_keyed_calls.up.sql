-- Calls with an Idempotency-Key, for a day: who has claimed one, what it wrote, and its answer. No seal
-- covers them: they are no part of the log.

CREATE TABLE keyed_calls (
  caller      text COLLATE "C" NOT NULL, -- kind:name
  key         text COLLATE "C" NOT NULL,
  token       text        NOT NULL,      -- of the claim
  route       text        NOT NULL,      -- method, path and query
  state       text        NOT NULL,      -- begun, written, answered
  begun_at    timestamptz NOT NULL,
  lease_until timestamptz NOT NULL,
  about       text        NOT NULL,      -- the path of what was written; empty until something is
  body        bytea,                     -- stands for the request's body; NULL: not known yet
  answer      bytea,                     -- status, headers and body, compressed; NULL: not known yet
  PRIMARY KEY (caller, key)
);

CREATE INDEX keyed_calls_by_age ON keyed_calls (begun_at);
