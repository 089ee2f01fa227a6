-- What was answered again, who was refused, and when a seal was written.

-- Single replays, and what a batch that is no longer kept as a job found otherwise.
CREATE TABLE replay_results (
  cluster        text        COLLATE "C" NOT NULL,
  decision_id    text        COLLATE "C" NOT NULL,
  replay         text        COLLATE "C" NOT NULL, -- UUIDv7: of the replay, or of the batch
  batch          boolean     NOT NULL,
  seq            bigint,                           -- the decision's; NULL: it was gone
  identical      boolean     NOT NULL,
  differences    bigint,                           -- NULL: there was no answer
  overrides      text        NOT NULL,             -- what was not as recorded; ''
  semantics      text        NOT NULL,             -- of the server
  profile_digest text,
  asked_by       text,
  peer           text,
  request_id     text,
  created_at     timestamptz NOT NULL,
  PRIMARY KEY (cluster, decision_id, replay)
);
CREATE INDEX replay_results_by_time ON replay_results (created_at);

-- Batch replays whose jobs are no longer kept.
CREATE TABLE replay_runs (
  cluster     text        COLLATE "C" NOT NULL,
  id          text        COLLATE "C" NOT NULL,
  state       text        NOT NULL,
  since       timestamptz NOT NULL,
  until       timestamptz NOT NULL,
  through_seq bigint,
  overrides   text        NOT NULL,
  semantics   text,
  total       bigint      NOT NULL,
  identical   bigint      NOT NULL,
  different   bigint      NOT NULL,
  errors      bigint      NOT NULL,
  asked_by    text,
  created_at  timestamptz NOT NULL,
  ended_at    timestamptz,
  PRIMARY KEY (cluster, id)
);

-- The last place in the log when the batch was made: those up to it are surely among its decisions.
ALTER TABLE replays ADD COLUMN through_seq bigint; -- NULL: of earlier releases
ALTER TABLE replays ADD COLUMN semantics text;     -- of the server that made it; NULL likewise

-- Refused calls, counted by the minute. instance is the server that refused them.
CREATE TABLE denials (
  minute   timestamptz NOT NULL,
  instance text        COLLATE "C" NOT NULL,
  cluster  text        COLLATE "C" NOT NULL, -- '': of none
  caller   text        COLLATE "C" NOT NULL, -- who asked, or the address; '' where the row counts what was cut
  route    text        COLLATE "C" NOT NULL,
  status   integer     NOT NULL,
  reason   text        COLLATE "C" NOT NULL,
  asked_by text,                             -- NULL: the caller did not prove who it is
  peer     text,
  count    bigint      NOT NULL,
  first_at timestamptz NOT NULL,
  last_at  timestamptz NOT NULL,
  PRIMARY KEY (minute, instance, cluster, caller, route, status, reason)
);

ALTER TABLE seals ADD COLUMN created_at timestamptz; -- beside the hash; NULL: of earlier releases
