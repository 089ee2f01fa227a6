DROP TABLE leads;

PRAGMA user_version = 7;
