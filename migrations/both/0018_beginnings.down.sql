-- The seals of beginning stay: they are links of the chains, and older programs read over them.
DROP INDEX seals_beginnings;
