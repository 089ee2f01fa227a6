-- The times that questions named, the plugins that rejected and what woke pods go: after the way up
-- again every waiting pod is active. The hash chains go too, since they cover columns of decisions
-- that go: what is stored is older than the chains that begin then.
DELETE FROM seals;
UPDATE clusters SET seals = 0, seal_hash = x'';
ALTER TABLE checkpoints DROP COLUMN woken;
ALTER TABLE revisions DROP COLUMN woken;
ALTER TABLE decisions DROP COLUMN rejected_by;
ALTER TABLE decisions DROP COLUMN asked_as_of;
