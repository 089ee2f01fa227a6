-- The chains and the keys go. After the way up again what is stored is older than the chains that begin then.
DROP TABLE keys;
DROP TABLE seals;
ALTER TABLE clusters DROP COLUMN seal_hash;
ALTER TABLE clusters DROP COLUMN seals;
