-- Who may ask: API tokens, of which only a hash is kept, and what was changed about access. Who
-- asked stands in each decision and revision; it is NULL in those from before.

CREATE TABLE tokens (
  id         TEXT    NOT NULL PRIMARY KEY, -- UUIDv7
  name       TEXT    NOT NULL,
  hash       BLOB    NOT NULL UNIQUE,      -- SHA-256 of the whole token
  grants     TEXT    NOT NULL,             -- JSON
  created_at INTEGER NOT NULL,             -- microseconds since 1970, UTC
  expires_at INTEGER,                      -- NULL: never
  revoked_at INTEGER,                      -- NULL: not revoked
  used_at    INTEGER                       -- NULL: not yet; written now and then
) STRICT, WITHOUT ROWID;

CREATE TABLE access_log (
  id         TEXT    NOT NULL PRIMARY KEY, -- UUIDv7
  created_at INTEGER NOT NULL,
  action     TEXT    NOT NULL,
  object     TEXT    NOT NULL,
  detail     TEXT    NOT NULL,             -- JSON
  asked_by   TEXT,
  peer       TEXT,
  request_id TEXT
) STRICT, WITHOUT ROWID;

ALTER TABLE decisions ADD COLUMN asked_by TEXT;
ALTER TABLE decisions ADD COLUMN peer TEXT;
ALTER TABLE decisions ADD COLUMN request_id TEXT;
ALTER TABLE revisions ADD COLUMN asked_by TEXT;
ALTER TABLE revisions ADD COLUMN peer TEXT;
ALTER TABLE revisions ADD COLUMN request_id TEXT;
