-- Purposes and attempts go. Seals of rows that have them differ from the rows afterwards.
ALTER TABLE decisions DROP COLUMN attempt;
ALTER TABLE decisions DROP COLUMN purpose;
