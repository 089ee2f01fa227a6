-- What copies of clusters are of goes: a copy without a checkpoint at its first revision cannot be read
-- any more. Delete such copies before, or have each written whole, which the deletion of its source does.
DROP TABLE origins;
