package sqlite

import (
	"strings"

	"berth/internal/store/lists"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"
)

// The writer's statements.
const (
	sqlBegin    = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`

	sqlHead    = `SELECT newest, token, last_seq, seals, seal_hash FROM clusters WHERE cluster = ?`
	sqlNewHead = `INSERT INTO clusters (cluster, newest, token, revisions, decisions, last_seq, seals, seal_hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)`
	// The books are kept by difference, so that one statement a batch and
	// cluster is enough. What the batch was judged by is compared.
	sqlMoveHead = `UPDATE clusters SET newest = ?2, token = ?3, seals = ?6, seal_hash = ?7,
  revisions = revisions + ?4, decisions = decisions + ?5, last_seq = last_seq + ?5
WHERE cluster = ?1 AND newest = ?8 AND token = ?9 AND last_seq = ?10 AND seals = ?11 AND seal_hash = ?12`
	// What stays of a cluster: the last number given, and the end of its hash chain.
	sqlEmptyHead = `UPDATE clusters SET newest = 0, token = '', revisions = 0, decisions = 0
WHERE cluster = ? AND (revisions > 0 OR decisions > 0)`

	sqlToken       = `SELECT token FROM revisions WHERE cluster = ? AND number = ?`
	sqlPutRevision = `INSERT INTO revisions (cluster, number, token, parent_token, created_at, digest, cause, change, summary, asked_by, peer, request_id, woken)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlChild          = `SELECT number FROM revisions WHERE cluster = ? AND parent_token = ?`
	sqlPutCheckpoint  = `INSERT INTO checkpoints (cluster, number, payload, woken) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlNextCheckpoint = `SELECT EXISTS (SELECT 1 FROM checkpoints c WHERE c.cluster = r.cluster AND c.number = r.number)
FROM revisions r WHERE r.cluster = ? AND r.number > ? ORDER BY r.number LIMIT 1`
	sqlReferred = `SELECT EXISTS (SELECT 1 FROM decisions WHERE cluster = ?1 AND revision = ?2)
OR EXISTS (SELECT 1 FROM decisions WHERE cluster = ?1 AND bound_revision = ?2 AND bound_revision > 0)
OR EXISTS (SELECT 1 FROM simulations WHERE cluster = ?1 AND revision = ?2)`
	sqlDropRevision  = `DELETE FROM revisions WHERE cluster = ? AND number = ?` // its checkpoint goes with it
	sqlCountDown     = `UPDATE clusters SET revisions = revisions - 1 WHERE cluster = ?`
	sqlDropDecisions = `DELETE FROM decisions WHERE cluster = ?`
	sqlDropRevisions = `DELETE FROM revisions WHERE cluster = ?`
	sqlDropResults   = `DELETE FROM replay_results WHERE cluster = ?`
	sqlDropRuns      = `DELETE FROM replay_runs WHERE cluster = ?`
	sqlDropObjects   = `DELETE FROM revision_changes WHERE cluster = ?`
	sqlPutObject     = `INSERT INTO revision_changes (` + seal.ObjectColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlPutClassLog   = `INSERT INTO priority_class_changes (` + seal.ClassColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlLastClassSeq  = `SELECT coalesce(max(seq), 0) FROM priority_class_changes WHERE cluster = ?`
	sqlDropReplays   = `DELETE FROM replays WHERE cluster = ?` // parts and differences go with them

	sqlRetain = `DELETE FROM decisions WHERE rowid IN
(SELECT rowid FROM decisions WHERE cluster = ? AND created_at < ? ORDER BY created_at LIMIT ?) RETURNING seq`
	sqlCountDecisionsDown = `UPDATE clusters SET decisions = decisions - ? WHERE cluster = ?`

	sqlPutProfile = `INSERT INTO profiles (digest, name, payload) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`

	sqlPutStamp = `INSERT INTO stamps (profile, profile_digest, engine, semantics, plugins) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlStamp    = `SELECT id FROM stamps WHERE profile = ? AND profile_digest = ? AND engine = ? AND semantics = ? AND plugins = ?`

	// Of ids, those that are stored.
	sqlCallToken = `SELECT token FROM keyed_calls WHERE caller = ? AND key = ?`

	sqlIDs = `SELECT d.id, d.cluster FROM json_each(?) i CROSS JOIN decisions d WHERE d.id = i.value`

	sqlDropFacts   = `DELETE FROM judged_pods WHERE cluster = ?`
	sqlDropHolds   = `DELETE FROM placement_holds WHERE cluster = ?`
	sqlRetainFacts = `DELETE FROM judged_pods WHERE (cluster, pod_digest) IN (SELECT cluster, pod_digest FROM judged_pods WHERE seen_at < ? LIMIT ?)`

	fromDecisions = ` FROM decisions d LEFT JOIN stamps t ON t.id = d.stamp`
)

// rowsAtOnce is how many decisions a statement writes at most. More gained nothing.
const rowsAtOnce = 8

// sqlPutDecisions write as many decisions as their index says, with cursors that stay at the ends
// of the indexes. FAIL is without a journal of what the statement did: an error undoes the whole
// transaction.
var sqlPutDecisions = func() (by [rowsAtOnce + 1]string) {
	row := `(?` + strings.Repeat(", ?", len(lists.Stored)-1) + `)`
	for n := 1; n <= rowsAtOnce; n++ {
		by[n] = `INSERT OR FAIL INTO decisions (` + lists.Stored.List() + `) VALUES ` + row + strings.Repeat(", "+row, n-1)
	}
	return by
}()

// orAll turns "no limit" into SQLite's word for it.
func orAll(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

var (
	sqlMarkCall    = sqlcommon.SQLite.Text(sqlcommon.SQLMarkCall)
	sqlPutOrigin   = sqlcommon.SQLite.Text(sqlcommon.PutOrigin)
	sqlDropOrigins = sqlcommon.SQLite.Text(sqlcommon.DropOrigins)
	sqlCopy        = sqlcommon.SQLite.Text(sqlcommon.SQLCopy)
)
