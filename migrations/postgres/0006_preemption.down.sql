DROP VIEW nominations_never_bound;
DROP VIEW preemption_pairs;

UPDATE schema_version SET version = 5;
