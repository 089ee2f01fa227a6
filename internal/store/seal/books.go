package seal

import (
	"crypto/sha256"
	"fmt"

	"berth/internal/store"
)

// BooksQuery returns the SELECT of the clusters' books c beside what is stored of them, up to
// WHERE. count: rows are counted, also those of tables that stand beside the decisions.
func BooksQuery(count bool, beside ...string) string {
	revisions, decisions := `-1`, `-1`
	if count {
		revisions = `(SELECT count(*) FROM revisions r WHERE r.cluster = c.cluster)`
		decisions = `(SELECT count(*) FROM decisions d WHERE d.cluster = c.cluster)`
		for _, table := range beside {
			decisions += ` + (SELECT count(*) FROM ` + table + ` d WHERE d.cluster = c.cluster)`
		}
	}
	return `SELECT c.cluster, c.seals, c.seal_hash, c.last_seq, c.newest, c.token, c.revisions, c.decisions, ` + revisions + `, ` + decisions + `,
coalesce((SELECT max(r.number) FROM revisions r WHERE r.cluster = c.cluster), 0),
coalesce((SELECT max(d.seq) FROM decisions d WHERE d.cluster = c.cluster), 0),
coalesce((SELECT r.token FROM revisions r WHERE r.cluster = c.cluster AND r.number = c.newest), ''),
coalesce(l.number, 0), l.hash, coalesce(l.seq, 0), coalesce(l.revision, 0)
FROM clusters c LEFT JOIN seals l ON l.cluster = c.cluster AND l.number = (SELECT max(x.number) FROM seals x WHERE x.cluster = c.cluster)`
}

// BooksTargets returns where a row of BooksQuery goes.
func BooksTargets(b *store.Books) []any {
	return []any{
		&b.Cluster, &b.Number, &b.Hash, &b.Seq, &b.Newest, &b.Token, &b.Revisions, &b.Decisions, &b.StoredRevisions, &b.StoredDecisions,
		&b.TopRevision, &b.TopSeq, &b.StoredToken, &b.Last.Number, &b.Last.Hash, &b.Last.Seq, &b.Last.Revision,
	}
}

// Profiles is the SELECT of what ProfileFaults looks at.
const Profiles = `SELECT digest, payload FROM profiles ORDER BY digest`

// ProfileFaults compares a profile with its digest, which the decisions that it made are sealed
// with.
func ProfileFaults(digest string, payload []byte) []store.SchemaFault {
	is := fmt.Sprintf("sha256:%x", sha256.Sum256(payload))
	if is == digest {
		return nil
	}
	return []store.SchemaFault{{Object: "profile " + digest, What: store.SchemaChanged, Detail: "profile " + digest + " has bytes of digest " + is}}
}
