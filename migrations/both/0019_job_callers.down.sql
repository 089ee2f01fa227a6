DROP INDEX simulations_by_caller;
ALTER TABLE simulations DROP COLUMN asked_by;
