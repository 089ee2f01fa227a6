DROP INDEX decisions_by_request;
