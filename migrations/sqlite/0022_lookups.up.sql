-- Finds a decision by its request's id.
CREATE INDEX decisions_by_request ON decisions (request_id) WHERE request_id IS NOT NULL;

-- What views and columns mean, which PostgreSQL keeps as comments. It is filled when the views are
-- made, from views.txt.
CREATE TABLE column_docs (
  "view"   TEXT NOT NULL,
  "column" TEXT NOT NULL, -- '': the view
  text     TEXT NOT NULL,
  PRIMARY KEY ("view", "column")
) STRICT, WITHOUT ROWID;
