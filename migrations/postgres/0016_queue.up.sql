-- What the scheduling queue is made of: the time that a question named, which plugins rejected the
-- pod, and which waiting pods each revision may have helped. All are NULL in rows of before, where
-- none of it is known.

ALTER TABLE decisions ADD COLUMN asked_as_of timestamptz; -- NULL: the question named no time
ALTER TABLE decisions ADD COLUMN rejected_by text;        -- names of plugins, with commas between; NULL: none
ALTER TABLE revisions ADD COLUMN woken bytea;             -- NULL: not known
ALTER TABLE checkpoints ADD COLUMN woken bytea;           -- NULL: not known
