DROP VIEW nominations_never_bound;
DROP VIEW preemption_pairs;

PRAGMA user_version = 5;
