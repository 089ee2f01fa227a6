-- Questions on their way are asked again.
DROP TABLE confirmations;

UPDATE schema_version SET version = 9;
