package postgres

import (
	"strconv"
	"strings"
	"sync"

	"berth/internal/store/lists"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"
)

// The writer's statements; the driver prepares each once a connection.
const (
	// In the order of names, so that two batches cannot wait for one another.
	sqlLock = `SELECT cluster, newest, token, last_seq, seals, seal_hash FROM clusters WHERE cluster = ANY ($1) ORDER BY cluster FOR UPDATE`
	// The same, for clusters that are new.
	sqlNewHeads = `INSERT INTO clusters (cluster) SELECT c FROM unnest($1::text[]) c ORDER BY c COLLATE "C"
ON CONFLICT DO NOTHING RETURNING cluster`
	sqlDropHead = `DELETE FROM clusters WHERE cluster = $1`
	// What stays of a cluster: the last number given, and the end of its hash chain.
	sqlEmptyHead = `UPDATE clusters SET newest = 0, token = '', revisions = 0, decisions = 0
WHERE cluster = $1 AND (revisions > 0 OR decisions > 0)`

	// What is stored of the revisions that a batch names, by number and as parents.
	sqlTokens = `SELECT r.cluster, r.number, r.token FROM revisions r
JOIN unnest($1::text[], $2::bigint[]) q (cluster, number) ON r.cluster = q.cluster AND r.number = q.number`
	sqlParents = `SELECT r.cluster, r.parent_token FROM revisions r
JOIN unnest($1::text[], $2::text[]) q (cluster, parent) ON r.cluster = q.cluster AND r.parent_token = q.parent`
	sqlStoredGaps = `SELECT g.cluster, g.id FROM decision_gaps g
JOIN unnest($1::text[], $2::text[]) q (cluster, id) ON g.cluster = q.cluster AND g.id = q.id`
	sqlClassSeqs = `SELECT cluster, max(seq) FROM priority_class_changes WHERE cluster = ANY ($1) GROUP BY cluster`
	// The rows stay as they are until the commit, so that no claim is lost meanwhile.
	sqlCallTokens = `SELECT caller, key, token FROM keyed_calls WHERE (caller, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))
ORDER BY caller, key FOR UPDATE`
	sqlIDs = `SELECT id, cluster FROM decisions WHERE id = ANY ($1)`

	sqlPutRevision = `INSERT INTO revisions (cluster, number, token, parent_token, created_at, digest, cause, change, summary, asked_by, peer, request_id, woken)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
	sqlPutCheckpoint  = `INSERT INTO checkpoints (cluster, number, payload, woken) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
	sqlToken          = `SELECT token FROM revisions WHERE cluster = $1 AND number = $2`
	sqlNextCheckpoint = `SELECT EXISTS (SELECT 1 FROM checkpoints c WHERE c.cluster = r.cluster AND c.number = r.number)
FROM revisions r WHERE r.cluster = $1 AND r.number > $2 ORDER BY r.number LIMIT 1`
	sqlReferred = `SELECT EXISTS (SELECT 1 FROM decisions WHERE cluster = $1 AND revision = $2)
OR EXISTS (SELECT 1 FROM decisions WHERE cluster = $1 AND bound_revision = $2 AND bound_revision > 0)
OR EXISTS (SELECT 1 FROM simulations WHERE cluster = $1 AND revision = $2)`
	sqlDropRevision  = `DELETE FROM revisions WHERE cluster = $1 AND number = $2` // its checkpoint goes with it
	sqlCountDown     = `UPDATE clusters SET revisions = revisions - 1 WHERE cluster = $1`
	sqlDropDecisions = `DELETE FROM decisions WHERE cluster = $1`
	sqlDropRevisions = `DELETE FROM revisions WHERE cluster = $1`
	sqlDropResults   = `DELETE FROM replay_results WHERE cluster = $1`
	sqlDropRuns      = `DELETE FROM replay_runs WHERE cluster = $1`
	sqlDropObjects   = `DELETE FROM revision_changes WHERE cluster = $1`
	sqlDropReplays   = `DELETE FROM replays WHERE cluster = $1` // parts and differences go with them

	sqlPutProfile = `INSERT INTO profiles (digest, name, payload) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

	// Several writers may come with one stamp at once: the second waits for the
	// first one's end, in the order of names.
	sqlPutStamps = `INSERT INTO stamps (profile, profile_digest, engine, semantics, plugins)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) ORDER BY 1, 2, 3, 4, 5 ON CONFLICT DO NOTHING`
	sqlStamps = `SELECT s.id, s.profile, s.profile_digest, s.engine, s.semantics, s.plugins FROM stamps s
JOIN unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) q (profile, profile_digest, engine, semantics, plugins)
USING (profile, profile_digest, engine, semantics, plugins)`

	sqlDropFacts   = `DELETE FROM judged_pods WHERE cluster = $1`
	sqlDropHolds   = `DELETE FROM placement_holds WHERE cluster = $1`
	sqlRetainFacts = `DELETE FROM judged_pods WHERE ctid = ANY (ARRAY(SELECT ctid FROM judged_pods WHERE seen_at < $1 LIMIT $2))`

	withStamp = ` LEFT JOIN stamps t ON t.id = d.stamp`
)

// The books are kept by difference, so that one statement a batch and cluster is enough. Where the
// chain does not end where the batch was judged to begin, it moves nothing, and what comes behind
// it in the same round trip writes nothing (whereWon): an error would do the same, and stand in
// PostgreSQL's log for each race between two writers. The last parameter is false where
// sqlAllStand decided before.
var sqlPutHead = `WITH head AS (
  UPDATE clusters SET newest = $2, token = $3, revisions = revisions + $4, decisions = decisions + $5,
    last_seq = last_seq + $5, seals = $6, seal_hash = $7
  WHERE cluster = $1 AND seals = $8 AND seal_hash = $9 AND ($21::boolean AND ` + free + ` OR ` + won + `)
  RETURNING cluster, set_config('berth.won', 'yes', true) AS won
)
INSERT INTO seals (` + seal.Columns + `, created_at)
SELECT cluster, ` + placeholders(10, 11) + `, clock_timestamp() FROM head WHERE won = 'yes'`

const (
	// won is whether the transaction's batch stands on the ends of the chains as they are.
	won = `current_setting('berth.won', true) = 'yes'`
	// free is whether no other process has one of the batch's chains to itself.
	free = `current_setting('berth.busy', true) IS DISTINCT FROM 'yes'`
	// sqlAllStand decides it for a batch of several clusters, of which all are written or none. It
	// holds them until the commit, in the order of names.
	sqlAllStand = `SELECT set_config('berth.won', 'yes', true) FROM (SELECT count(*) AS n FROM (
  SELECT 1 FROM clusters c JOIN unnest($1::text[], $2::bigint[], $3::bytea[]) w (cluster, seals, seal_hash)
  ON c.cluster = w.cluster AND c.seals = w.seals AND c.seal_hash = w.seal_hash ORDER BY c.cluster FOR UPDATE OF c
) s) s WHERE n = cardinality($1::text[]) AND ` + free
)

// conditional has what whereWon made.
var conditional sync.Map

// whereWon returns an INSERT of values as one that writes only where the batch was won; false for
// any other statement.
func whereWon(insert string) (string, bool) {
	if have, ok := conditional.Load(insert); ok {
		return have.(string), true
	}
	into, rest, ok := strings.Cut(insert, "VALUES (")
	depth, end := 1, 0
	for ; ok && depth > 0 && end < len(rest); end++ {
		switch rest[end] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	if !ok || depth > 0 || !strings.HasPrefix(insert, "INSERT ") {
		return "", false
	}
	text := into + "SELECT " + rest[:end-1] + " WHERE " + won + rest[end:]
	conditional.Store(insert, text)
	return text, true
}

var (
	sqlPutObject   = `INSERT INTO revision_changes (` + seal.ObjectColumns + `) VALUES (` + placeholders(1, 14) + `)`
	sqlPutClassLog = `INSERT INTO priority_class_changes (` + seal.ClassColumns + `) VALUES (` + placeholders(1, 16) + `)`
)

var sqlPutDecision = `INSERT INTO decisions (` + lists.Stored.List() + `) VALUES (` + placeholders(1, len(lists.Stored)) + `)`

// placeholders returns n of them, the first of a number.
func placeholders(first, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(names, ", ")
}

// orAll turns "no limit" into SQL's word for it, which is NULL.
func orAll(limit int) *int {
	if limit <= 0 {
		return nil
	}
	return &limit
}

var sqlMarkCall = sqlcommon.Postgres.Text(sqlcommon.SQLMarkCall)
