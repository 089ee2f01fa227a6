-- Who may ask: API tokens, of which only a hash is kept, and what was changed about access. Who
-- asked stands in each decision and revision; it is NULL in those from before.

CREATE TABLE tokens (
  id         text        COLLATE "C" NOT NULL PRIMARY KEY, -- UUIDv7
  name       text        NOT NULL,
  hash       bytea       NOT NULL UNIQUE,                  -- SHA-256 of the whole token
  grants     text        NOT NULL,                         -- JSON
  created_at timestamptz NOT NULL,
  expires_at timestamptz,                                  -- NULL: never
  revoked_at timestamptz,                                  -- NULL: not revoked
  used_at    timestamptz                                   -- NULL: not yet; written now and then
);

CREATE TABLE access_log (
  id         text        COLLATE "C" NOT NULL PRIMARY KEY, -- UUIDv7
  created_at timestamptz NOT NULL,
  action     text        NOT NULL,
  object     text        NOT NULL,
  detail     text        NOT NULL,                         -- JSON
  asked_by   text,
  peer       text,
  request_id text
);

ALTER TABLE decisions ADD COLUMN asked_by text, ADD COLUMN peer text, ADD COLUMN request_id text;
ALTER TABLE revisions ADD COLUMN asked_by text, ADD COLUMN peer text, ADD COLUMN request_id text;
