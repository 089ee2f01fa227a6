-- Who a batch replay is for, and when a worker last took a part of it: its callers share the places
-- of jobs and take turns, as those of simulations do.

ALTER TABLE replays ADD COLUMN asked_by TEXT NOT NULL DEFAULT ''; -- kind:name, or an address; '' of earlier releases
ALTER TABLE replays ADD COLUMN claimed_at INTEGER NOT NULL DEFAULT 0; -- microseconds since 1970, UTC
CREATE INDEX replays_by_caller ON replays (asked_by, claimed_at);
