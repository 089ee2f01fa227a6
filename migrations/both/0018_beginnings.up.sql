-- Finds the beginning of a chain. The seals of the chains that have none are written before this
-- file is run (Beginnings in run.go), since they are made of hashes.

CREATE INDEX seals_beginnings ON seals (cluster, number) WHERE kind IN ('beginning', 'deletion');
