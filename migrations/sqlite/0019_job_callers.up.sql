-- Who a job is for: callers share the places of jobs, and take turns.

ALTER TABLE simulations ADD COLUMN asked_by TEXT NOT NULL DEFAULT ''; -- kind:name, or an address; '' of earlier releases
CREATE INDEX simulations_by_caller ON simulations (asked_by, lease_until);
