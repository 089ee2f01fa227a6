-- Which decisions were of one placement goes; the inputs of the records still replay. Seals of rows of
-- placements differ from the rows afterwards.
ALTER TABLE decisions DROP COLUMN placement;
