-- The objects that were in the way of a decision which places nothing: at most ten, and 1 kB. The
-- digest of the answer does not cover them.

ALTER TABLE decisions ADD COLUMN blockers TEXT; -- JSON; NULL: it places the pod, or an older release wrote it
