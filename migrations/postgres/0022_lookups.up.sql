-- Finds a decision by its request's id. The partitions that there are get their indexes before this
-- file is run, beside writers (Requests in run.go), and this statement then only takes them over.

CREATE INDEX decisions_by_request ON decisions (request_id) WHERE request_id IS NOT NULL;
