DROP TABLE leads;

UPDATE schema_version SET version = 7;
