-- Which servers run is known by the next ones again.
DROP TABLE servers;
ALTER TABLE schema_version DROP COLUMN serves;
