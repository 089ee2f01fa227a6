-- Tokens go, and have to be made anew; so does who asked.
ALTER TABLE revisions DROP COLUMN request_id;
ALTER TABLE revisions DROP COLUMN peer;
ALTER TABLE revisions DROP COLUMN asked_by;
ALTER TABLE decisions DROP COLUMN request_id;
ALTER TABLE decisions DROP COLUMN peer;
ALTER TABLE decisions DROP COLUMN asked_by;
DROP TABLE access_log;
DROP TABLE tokens;
