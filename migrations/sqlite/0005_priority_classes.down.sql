DROP TABLE priority_classes;
DROP TABLE priority_class_versions;

PRAGMA user_version = 4;
