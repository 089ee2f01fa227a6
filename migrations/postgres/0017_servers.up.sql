-- The servers that run, each of which renews its row every few seconds: a way down waits until none
-- does. And the oldest schema whose programs work with this one: from here on a migration only adds,
-- so that the servers of the release before go on beside those of the next.

CREATE TABLE servers (
  id      text COLLATE "C" PRIMARY KEY, -- of the process
  host    text        NOT NULL,
  program text        NOT NULL,         -- its version
  schema  bigint      NOT NULL,         -- the newest one that it knows
  started timestamptz NOT NULL,
  seen    timestamptz NOT NULL
);

ALTER TABLE schema_version ADD COLUMN serves bigint NOT NULL DEFAULT 17;
