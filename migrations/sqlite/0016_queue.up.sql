-- What the scheduling queue is made of: the time that a question named, which plugins rejected the
-- pod, and which waiting pods each revision may have helped. All are NULL in rows of before, where
-- none of it is known.

ALTER TABLE decisions ADD COLUMN asked_as_of INTEGER; -- microseconds since 1970, UTC; NULL: the question named no time
ALTER TABLE decisions ADD COLUMN rejected_by TEXT;    -- names of plugins, with commas between; NULL: none
ALTER TABLE revisions ADD COLUMN woken BLOB;          -- NULL: not known
ALTER TABLE checkpoints ADD COLUMN woken BLOB;        -- NULL: not known
