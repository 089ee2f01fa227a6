-- The release of Kubernetes as which a batch replay answers, in place of the recorded one. Servers of
-- the release before do not know of it: batch replays with one are for when all replicas do.

ALTER TABLE replays ADD COLUMN release TEXT NOT NULL DEFAULT ''; -- with its gates; '': as recorded
