-- What is known of epochs goes. Revisions, decisions and seals keep their numbers.
DROP TABLE chain_epochs;
