-- Facts that the roll-ups have not copied yet go; they are in the inputs of the records. Seals of
-- rows that have facts differ from the rows afterwards.
ALTER TABLE decisions DROP COLUMN facts;
