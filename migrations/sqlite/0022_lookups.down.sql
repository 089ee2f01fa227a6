DROP TABLE column_docs;
DROP INDEX decisions_by_request;
