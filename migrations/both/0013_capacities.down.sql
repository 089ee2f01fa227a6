-- What was measured goes; later revisions are measured again.
DROP TABLE capacities;
