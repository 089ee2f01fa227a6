-- Facts of a decision's pod, where no earlier decision of the same server has them: judged_pods is
-- filled from here by the roll-ups, so that no decision waits for a row that lies anywhere.

ALTER TABLE decisions ADD COLUMN facts TEXT; -- JSON; NULL: an earlier decision has them, or none does
