-- Who a batch replay is for, and when a worker last took a part of it: its callers share the places
-- of jobs and take turns, as those of simulations do.

ALTER TABLE replays ADD COLUMN asked_by text COLLATE "C" NOT NULL DEFAULT ''; -- kind:name, or an address; '' of earlier releases
ALTER TABLE replays ADD COLUMN claimed_at timestamptz NOT NULL DEFAULT 'epoch';
CREATE INDEX replays_by_caller ON replays (asked_by, claimed_at);
