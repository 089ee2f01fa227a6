-- The sums go. After the way up again they are made of the decisions that are stored then.
DROP TABLE waits;
DROP TABLE hourly_durations;
DROP TABLE hourly_placements;
DROP TABLE hourly_failures;
DROP TABLE hourly_decisions;
DROP TABLE rollups;
