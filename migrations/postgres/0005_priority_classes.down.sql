DROP TABLE priority_classes;
DROP TABLE priority_class_versions;

UPDATE schema_version SET version = 4;
