-- Why a decision was made, and the attempt to place its pod that it is of: the id of the record that
-- began it. kube-scheduler's filter, prioritize, preempt and bind of one cycle are one attempt.

ALTER TABLE decisions ADD COLUMN purpose TEXT; -- live, question, shadow; NULL: of before
ALTER TABLE decisions ADD COLUMN attempt TEXT; -- NULL: of before
