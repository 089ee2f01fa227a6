-- The epochs of the chains: which database the chains were written in, as a change of PostgreSQL's
-- timeline or system identifier shows, and what each server that remembers the time before found
-- missing. Epoch 0 is that of the first server that looked.

CREATE TABLE chain_epochs (
  number         bigint      NOT NULL,             -- from 0
  cluster        text        COLLATE "C" NOT NULL, -- '': of the database
  instance       text        COLLATE "C" NOT NULL, -- the server that says so
  system         text        NOT NULL,             -- PostgreSQL's system identifier; '': not known
  timeline       bigint      NOT NULL,             -- 0: not known
  met_at         timestamptz NOT NULL,
  lost           bigint,                           -- answered decisions that are not on record; NULL: not known
  since          timestamptz,                      -- of them; NULL: nothing is missing
  until          timestamptz,
  first_revision bigint,                           -- missing revisions; NULL: none
  last_revision  bigint,
  ids            text,                             -- JSON: ids of the missing decisions; NULL: none is known
  PRIMARY KEY (number, cluster, instance)
);
