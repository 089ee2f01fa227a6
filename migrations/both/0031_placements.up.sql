-- The placement that a decision is of: pods that were decided one after the other, each on the state
-- that those before left, and bound by one revision or none. Its records have one created_at, which
-- the id begins with, so that they are found by time.

ALTER TABLE decisions ADD COLUMN placement TEXT; -- NULL: none
