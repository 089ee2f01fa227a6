package audit_test

import "fmt"

// tampering is a way to change the database behind berth's back.
type tampering struct {
	what string // as testdata/tamperings.md has it
	// sql is run on both stores, the others behind it on theirs alone: a row with those only, and
	// none for a store, is none of that store.
	sql, sqlite, postgres []string
	earlier               bool // the store as it was before the last commits is put in its place
	want                  []string
	note                  string // what finds it, where no check of chains and schema does
}

func one(q string) []string { return []string{q} }

// insert is a row of decisions like that of d011, under another id and place.
const insert = `INSERT INTO decisions (cluster, id, created_at, decided_as_of, revision, bound_revision, verb, outcome, namespace, pod, pod_uid, node,
nominated_node, priority, nodes_total, nodes_feasible, message, stamp, snapshot_digest, pod_digest, answer_digest, duration_micros, seq, mode)
SELECT %s, 'forged', created_at, decided_as_of, revision, bound_revision, verb, outcome, namespace, pod, pod_uid, node,
nominated_node, priority, nodes_total, nodes_feasible, message, stamp, snapshot_digest, pod_digest, answer_digest, duration_micros, %d, mode
FROM decisions WHERE id = 'd011'`

const (
	noSeals = `DELETE FROM seals WHERE cluster = 'prod'`
	noCount = `UPDATE clusters SET seals = 0, seal_hash = {empty} WHERE cluster = 'prod'`
	edited  = `UPDATE decisions SET node = 'node-2', asked_by = 'token:bob' WHERE cluster = 'prod' AND seq < 10`
)

// changed is a column of decision 5 that is another one.
func changed(column, value string) tampering {
	return tampering{
		what: "`decisions." + column + "`", sql: one(`UPDATE decisions SET ` + column + ` = ` + value + ` WHERE id = 'd005'`), want: one("prod decisions changed 5 d005"),
	}
}

// book is a column of a cluster's books that is another one.
func book(column, value string) tampering {
	return tampering{what: "`clusters." + column + "`", sql: one(`UPDATE clusters SET ` + column + ` = ` + value + ` WHERE cluster = 'prod'`)}
}

// beside is what no chain has.
func beside(what, query, note string) tampering {
	return tampering{what: what, sql: one(query), note: note}
}

// tamperings are those that audits tried, in the order of testdata/tamperings.md.
// TestEveryColumnIsChecked shows that each column of the sealed tables is checked.
var tamperings = []tampering{
	changed("outcome", "'Unschedulable'"), changed("node", "'node-2'"), changed("namespace", "'evil'"), changed("pod", "'other'"),
	changed("failures", "NULL"), changed("scores", "NULL"), changed("created_at", "{time}"), changed("decided_as_of", "{time}"), changed("input", "{zero}"),
	changed("answer_digest", "{zero}"), changed("asked_by", "'token:bob'"), changed("mode", "'shadow'"), changed("message", "'m'"), changed("revision", "2"),
	{what: "a decision deleted", sql: one(`DELETE FROM decisions WHERE id = 'd005'`), want: one("prod decisions missing 5")},
	{what: "the first decision deleted", sql: one(`DELETE FROM decisions WHERE id = 'd001'`), want: one("prod decisions missing 1")},
	{what: "the last decision deleted", sql: one(`DELETE FROM decisions WHERE id = 'd025'`), want: one("prod decisions missing 25")},
	{what: "all decisions deleted", sql: one(`DELETE FROM decisions WHERE cluster = 'prod'`)},
	{
		what: "two decisions swapped",
		sql:  []string{`UPDATE decisions SET seq = 99 WHERE id = 'd005'`, `UPDATE decisions SET seq = 5 WHERE id = 'd006'`, `UPDATE decisions SET seq = 6 WHERE id = 'd005'`},
		want: []string{"prod decisions moved 5 d006", "prod decisions moved 6 d005"},
	},
	{what: "a decision put in behind the last", sql: one(fmt.Sprintf(insert, "cluster", 26)), want: one("prod decisions inserted 26 forged")},
	{what: "a decision put in at place 0", sql: one(fmt.Sprintf(insert, "cluster", 0)), want: one("prod decisions inserted 0 forged")},
	{what: "a second decision at a place", postgres: one(fmt.Sprintf(insert, "cluster", 5))},
	{what: "a decision replaced", sql: []string{`DELETE FROM decisions WHERE id = 'd005'`, fmt.Sprintf(insert, "cluster", 5)}, want: one("prod decisions changed 5 forged")},
	{what: "a decision of a cluster that is not there", sql: one(fmt.Sprintf(insert, "'ghost'", 1)), want: one("ghost decisions inserted 1 forged")},
	{what: "a decision moved to another cluster", sql: one(`UPDATE decisions SET cluster = 'other', seq = 2, revision = 1 WHERE id = 'd025'`)},
	{
		what: "a decision deleted and put back, the same bytes",
		sqlite: []string{
			`CREATE TABLE aside AS SELECT * FROM decisions WHERE id = 'd005'`, `DELETE FROM decisions WHERE id = 'd005'`,
			`INSERT INTO decisions SELECT * FROM aside`, `DROP TABLE aside`,
		},
		postgres: []string{
			`CREATE TABLE aside AS SELECT * FROM decisions WHERE id = 'd005'`, `DELETE FROM decisions WHERE id = 'd005'`,
			`INSERT INTO decisions SELECT * FROM aside`, `DROP TABLE aside`,
		},
		note: "nothing is changed",
	},
	{what: "a stamp (`stamps.engine`)", sql: one(`UPDATE stamps SET engine = 'v9.9.9'`)},
	{what: "all stamps deleted", sql: one(`DELETE FROM stamps`)},
	{what: "a revision's digest", sql: one(`UPDATE revisions SET digest = 'sha256:0' WHERE cluster = 'prod' AND number = 2`), want: one("prod revisions changed 2")},
	{what: "who made a revision", sql: one(`UPDATE revisions SET asked_by = 'token:bob' WHERE cluster = 'prod' AND number = 2`), want: one("prod revisions changed 2")},
	{what: "a revision's change", sql: one(`UPDATE revisions SET change = {zero} WHERE cluster = 'prod' AND number = 2`), want: one("prod revisions changed 2")},
	{
		what: "a revision deleted",
		sql:  []string{`DELETE FROM checkpoints WHERE cluster = 'prod' AND number = 1`, `DELETE FROM revisions WHERE cluster = 'prod' AND number = 1`},
	},
	{
		what: "a revision put in",
		sql: one(`INSERT INTO revisions (cluster, number, token, parent_token, created_at, digest, cause, change, summary)
SELECT cluster, 3, 't3', 't2', created_at, digest, cause, change, summary FROM revisions WHERE cluster = 'prod' AND number = 2`),
	},
	{what: "a checkpoint's bytes", sql: one(`UPDATE checkpoints SET payload = {zero} WHERE cluster = 'prod' AND number = 2`), want: one("prod checkpoints changed 2")},
	{what: "a checkpoint deleted", sql: one(`DELETE FROM checkpoints WHERE cluster = 'prod' AND number = 2`), want: one("prod checkpoints missing 2")},
	{what: "a gap's size", sql: one(`UPDATE decision_gaps SET lost = 1`), want: one("prod decision_gaps changed 0 g1")},
	{what: "a gap deleted", sql: one(`DELETE FROM decision_gaps`), want: one("prod decision_gaps missing 0 g1")},
	{
		what: "a gap put in",
		sql:  one(`INSERT INTO decision_gaps (cluster, id, since, until, lost, cause, instance) SELECT cluster, 'forged', since, until, lost, cause, instance FROM decision_gaps`),
		want: one("prod decision_gaps inserted 0 forged"),
	},
	{
		what: "what a revision changed", sql: one(`UPDATE revision_changes SET name = 'cart-9' WHERE cluster = 'prod' AND revision = 2 AND place = 1`),
		want: one("prod revision_changes changed 2"),
	},
	{
		what: "one of the objects that a revision changed deleted", sql: one(`DELETE FROM revision_changes WHERE cluster = 'prod' AND revision = 2 AND place = 2`),
		want: one("prod revision_changes changed 2"),
	},
	{
		what: "all that a revision changed deleted", sql: one(`DELETE FROM revision_changes WHERE cluster = 'prod' AND revision = 2`),
		want: one("prod revision_changes missing 2"),
	},
	{
		what: "an object put in where a revision changed none",
		sql: one(`INSERT INTO revision_changes (cluster, revision, place, changes, action, kind, name, cause, created_at)
SELECT cluster, 7, 1, 1, action, kind, name, cause, created_at FROM revision_changes WHERE cluster = 'prod' AND revision = 2 AND place = 1`),
		want: one("prod revision_changes inserted 7"),
	},
	{
		what: "the new value in a change of a priority class", sql: one(`UPDATE priority_class_changes SET new_value = 7 WHERE cluster = 'prod' AND seq = 1`),
		want: one("prod priority_class_changes changed 1"),
	},
	{
		what: "who changed a priority class", sql: one(`UPDATE priority_class_changes SET asked_by = 'token:bob' WHERE cluster = 'prod' AND seq = 3`),
		want: one("prod priority_class_changes changed 3"),
	},
	{
		what: "a change of a priority class deleted", sql: one(`DELETE FROM priority_class_changes WHERE cluster = 'prod' AND seq = 2`),
		want: one("prod priority_class_changes missing 2"),
	},
	{
		what: "a change of a priority class put in",
		sql: one(`INSERT INTO priority_class_changes (cluster, seq, action, name, new_value, new_policy, new_global_default, source, created_at)
SELECT cluster, 99, action, name, new_value, new_policy, new_global_default, source, created_at FROM priority_class_changes WHERE cluster = 'prod' AND seq = 1`),
		want: one("prod priority_class_changes inserted 99"),
	},
	{what: "a seal's hashes of rows", sql: one(`UPDATE seals SET row_hashes = {zero} WHERE cluster = 'prod' AND number = 2`), want: one("prod seals changed 2")},
	{what: "a seal's own hash", sql: one(`UPDATE seals SET hash = {zero} WHERE cluster = 'prod' AND number = 2`), want: []string{"prod seals changed 2", "prod seals changed 2"}},
	{what: "a seal's kind", sql: one(`UPDATE seals SET kind = 'beginning' WHERE cluster = 'prod' AND number = 3`), want: one("prod seals changed 3")},
	{
		what: "a seal of a removal forged for a decision that is gone",
		sql: []string{
			`DELETE FROM decisions WHERE id = 'd025'`, `UPDATE seals SET items = '{"removed":{"decisions":[[25,25]]}}', kind = 'removal' WHERE cluster = 'prod' AND number = 8`,
		},
		want: one("prod seals changed 8"),
	},
	{
		what: "two seals swapped",
		sql: []string{
			`UPDATE seals SET number = 99 WHERE cluster = 'prod' AND number = 4`, `UPDATE seals SET number = 4 WHERE cluster = 'prod' AND number = 5`,
			`UPDATE seals SET number = 5 WHERE cluster = 'prod' AND number = 99`,
		},
	},
	{what: "a seal moved to another cluster", sql: one(`UPDATE seals SET cluster = 'other', number = 3 WHERE cluster = 'prod' AND number = 8`)},
	{what: "a seal deleted", sql: one(`DELETE FROM seals WHERE cluster = 'prod' AND number = 2`), want: one("prod seals missing 2")},
	{what: "the first seal deleted", sql: one(`DELETE FROM seals WHERE cluster = 'prod' AND number = 1`)},
	{what: "the last seal deleted", sql: one(`DELETE FROM seals WHERE cluster = 'prod' AND number = 9`)},
	{what: "a seal of a priority class's change deleted", sql: one(`DELETE FROM seals WHERE cluster = 'prod' AND number = 8`), want: one("prod seals missing 8")},
	{what: "the same, where it is the last", sql: one(`DELETE FROM seals WHERE cluster = 'prod' AND number = 8`), earlier: true},
	{what: "all seals of a cluster deleted", sql: one(noSeals)},
	{what: "all seals deleted and the count of them set to 0", sql: []string{noSeals, noCount}, want: one("prod seals missing 0")},
	{what: "the same, and decisions edited", sql: []string{noSeals, noCount, edited, `DELETE FROM decisions WHERE cluster = 'prod' AND seq = 12`}},
	{what: "the same of all clusters", sql: []string{`DELETE FROM seals`, `UPDATE clusters SET seals = 0, seal_hash = {empty}`, `DELETE FROM decisions`}},
	{
		what: "all seals deleted, and the books of the cluster",
		sql:  []string{noSeals, `DELETE FROM clusters WHERE cluster = 'prod'`},
	},
	{
		what: "all seals but the beginning deleted, and the books put back to it",
		sql: []string{
			`DELETE FROM seals WHERE cluster = 'prod' AND number > 1`,
			`UPDATE clusters SET seals = 1, seal_hash = (SELECT hash FROM seals WHERE cluster = 'prod' AND number = 1) WHERE cluster = 'prod'`,
		},
	},
	{
		what: "the end of a log cut: seals, rows and books",
		sql: []string{
			`DELETE FROM seals WHERE cluster = 'prod' AND number > 3`, `DELETE FROM decisions WHERE cluster = 'prod' AND seq > 20`,
			`DELETE FROM priority_class_changes WHERE cluster = 'prod' AND seq > 2`,
			`UPDATE clusters SET seals = 3, last_seq = 20, decisions = 20, seal_hash = (SELECT hash FROM seals WHERE cluster = 'prod' AND number = 3) WHERE cluster = 'prod'`,
		},
	},
	{
		what: "a cluster wiped, its books with it",
		sql: []string{
			noSeals, `DELETE FROM decisions WHERE cluster = 'prod'`, `DELETE FROM checkpoints WHERE cluster = 'prod'`, `DELETE FROM simulations`, `DELETE FROM capacities`, `DELETE FROM replays`,
			`DELETE FROM revisions WHERE cluster = 'prod'`, `DELETE FROM decision_gaps`, `DELETE FROM clusters WHERE cluster = 'prod'`,
			`DELETE FROM revision_changes WHERE cluster = 'prod'`, `DELETE FROM priority_class_changes WHERE cluster = 'prod'`,
		},
	},
	{what: "an older copy of the database in its place", earlier: true},
	book("newest", "1, token = 't1'"), book("token", "'forged'"), book("last_seq", "24"), book("decisions", "24"), book("revisions", "3"),
	{what: "a token where no revision is left", sql: []string{`DELETE FROM checkpoints`, `DELETE FROM simulations`, `DELETE FROM capacities`, `DELETE FROM revisions`, `UPDATE clusters SET newest = 0`}},
	{what: "the books of a cluster deleted", sql: one(`DELETE FROM clusters WHERE cluster = 'prod'`)},
	{
		what: "the end of the chain in the books put back",
		sql:  one(`UPDATE clusters SET seals = 2, seal_hash = (SELECT hash FROM seals WHERE cluster = 'prod' AND number = 2) WHERE cluster = 'prod'`),
	},
	{
		what:   "the view `decision_log` replaced by one that hides a pod",
		sqlite: []string{`DROP VIEW decision_log`, `CREATE VIEW decision_log AS SELECT * FROM decisions WHERE pod <> 'cart-5'`},
		postgres: one(`DO $$ BEGIN EXECUTE 'CREATE OR REPLACE VIEW decision_log AS SELECT * FROM (' ||
rtrim(pg_get_viewdef('decision_log'), ';') || ') all_of_them WHERE pod <> ''cart-5'''; END $$`),
	},
	{what: "a view deleted", sqlite: one(`DROP VIEW access_changes`), postgres: one(`DROP VIEW access_changes`)},
	{
		what:   "a trigger that swallows or changes rows",
		sqlite: one(`CREATE TRIGGER swallow AFTER INSERT ON decisions BEGIN DELETE FROM decisions WHERE id = new.id; END`),
		postgres: []string{
			`CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
			`CREATE TRIGGER swallow BEFORE INSERT ON decisions FOR EACH ROW EXECUTE FUNCTION swallow()`,
		},
	},
	{what: "a table's text changed", sqlite: []string{`DROP TABLE capacities`, `CREATE TABLE capacities (cluster TEXT)`}},
	{what: "an index deleted", sqlite: one(`DROP INDEX decisions_by_seq`), postgres: one(`DROP INDEX decisions_by_seq`)},
	{what: "a table deleted", sqlite: one(`DROP TABLE access_log`), postgres: one(`DROP TABLE access_log CASCADE`)},
	{what: "a rule that swallows rows", postgres: one(`CREATE RULE swallow AS ON INSERT TO access_log DO INSTEAD NOTHING`)},
	{what: "row-level security", postgres: one(`ALTER TABLE access_log ENABLE ROW LEVEL SECURITY`)},
	{what: "a policy", postgres: one(`CREATE POLICY hide ON access_log USING (false)`)},
	{what: "a table set UNLOGGED", postgres: one(`ALTER TABLE seals SET UNLOGGED`)},
	{what: "triggers of foreign keys disabled", postgres: one(`ALTER TABLE checkpoints DISABLE TRIGGER ALL`)},
	{what: "a partition truncated", postgres: one(`TRUNCATE decisions_default`)},
	{what: "a partition detached", postgres: one(`ALTER TABLE decisions DETACH PARTITION decisions_default`)},
	{what: "the schema's version set back", sqlite: one(`PRAGMA user_version = 15`), postgres: one(`UPDATE schema_version SET version = 15`)},
	{what: "the schema's version set ahead", sqlite: one(`PRAGMA user_version = 99`), postgres: one(`UPDATE schema_version SET version = 99, serves = 99`)},
	{what: "a bit of a profile's bytes", sql: one(`UPDATE profiles SET payload = {zero}`)},
	beside("a profile deleted", `DELETE FROM profiles`, "reading a decision of it, or a replay, which fails"),
	beside("a profile's name in `profiles`", `UPDATE profiles SET name = 'other'`, "nothing: a decision has the name in its stamp"),
	beside("a priority class's value", `UPDATE priority_classes SET value = 1000`, "a decision's record has the value that it used"),
	beside("`access_log` emptied", `DELETE FROM access_log`, "a database that keeps its own log; the role below cannot"),
	beside("a token put in", `INSERT INTO tokens (id, name, hash, grants, created_at) VALUES ('t1', 'evil', {zero}, '[]', {time})`, "`GET /v1/tokens`; what it did is in the chain as its own"),
	beside("a job's result or verdict", `UPDATE replay_parts SET identical = 9, done = 9`, "the job run again"),
	beside("a simulation's result", `UPDATE simulation_parts SET payload = {zero}`, "the question asked again"),
	beside("a row of `capacities`", `UPDATE capacities SET free = 0`, "`berth capacity` of a revision"),
}
