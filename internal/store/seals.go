package store

import (
	"context"
	"time"
)

// SealFormat is the schema version whose columns the hashes of rows cover: columns that a later
// migration brings are not part of the hashes that a seal of an earlier format holds.
const SealFormat = 31

// Seal is a link of a cluster's hash chain. Each commit writes one for each cluster that it adds
// rows to or takes rows from, in the same transaction: the hashes of the rows, and the hash of the
// seal before. A row that is changed, removed or put in later, and a seal likewise, no longer fit.
type Seal struct {
	Cluster string
	Number  int64 // from 1
	Kind    SealKind
	Format  int64 // see SealFormat
	// The decisions with AfterSeq < Seq of the row <= Seq, and the revisions likewise, are those of
	// this seal. What is before the first seal of a cluster is older than its chain.
	AfterSeq, Seq           int64
	AfterRevision, Revision int64
	Previous                []byte // hash of the seal before; empty in the first
	Hash                    []byte
	RowHashes               []byte // of the decisions, in the order of Seq, 32 bytes each
	Items                   []byte // JSON of SealItems; nil without any
}

// SealKind is what a seal is of.
type SealKind string

// The kinds of seals.
const (
	SealedRows     SealKind = "rows"     // rows that were added
	SealedRemoval  SealKind = "removal"  // rows that retention or pruning took away
	SealedDeletion SealKind = "deletion" // the cluster was deleted, its earlier seals with it
	// SealedBeginning is of the first rows of a cluster, or of the rows that were older than its
	// chain when a migration wrote it. A chain of rows without one has lost its seals.
	SealedBeginning SealKind = "beginning"
	SealedEpoch     SealKind = "epoch" // numbers go on in another epoch; those between are of no row
)

// SealItems are the rows of a seal beside its decisions. Hashes are by revision number, or by id.
type SealItems struct {
	Revisions   map[int64][]byte  `json:"revisions,omitempty"`
	Checkpoints map[int64][]byte  `json:"checkpoints,omitempty"`
	Gaps        map[string][]byte `json:"gaps,omitempty"`
	Removed     *Removed          `json:"removed,omitempty"`
	Epoch       *Epoch            `json:"epoch,omitempty"`
	Before      *Before           `json:"before,omitempty"`
	// Rows are those of other tables, by the number that each has in its table. One hash may be of
	// several rows with one number.
	Rows map[SealTable]map[int64][]byte `json:"rows,omitempty"`
}

// Put adds the hash of a row of a table.
func (i *SealItems) Put(table SealTable, number int64, hash []byte) {
	if i.Rows == nil {
		i.Rows = map[SealTable]map[int64][]byte{}
	}
	if i.Rows[table] == nil {
		i.Rows[table] = map[int64][]byte{}
	}
	i.Rows[table][number] = hash
}

// Before are decisions that are older than the chain, as a migration found them: of the places with
// AfterSeq < place <= Seq those in the ranges, which are inclusive at both ends. Revisions,
// checkpoints and gaps from before are in the other fields of the seal's items.
type Before struct {
	AfterSeq  int64      `json:"afterSeq"`
	Seq       int64      `json:"seq"`
	Decisions [][2]int64 `json:"decisions,omitempty"`
	Hashes    []byte     `json:"hashes,omitempty"` // in the order of the places, 32 bytes each
}

// Removed names rows that were taken away on purpose. Ranges are inclusive at both ends.
type Removed struct {
	Decisions [][2]int64 `json:"decisions,omitempty"`
	Revisions [][2]int64 `json:"revisions,omitempty"`
	Gaps      []string   `json:"gaps,omitempty"`
	// Rows are those of SealItems.Rows: all with a number in the ranges, and there need not be one
	// of each.
	Rows map[SealTable][][2]int64 `json:"rows,omitempty"`
	// At is when, by RFC 3339 with microseconds, and Setting is the setting that it was done for,
	// or AskedBy the caller. Earlier releases wrote none of them.
	At      string `json:"at,omitempty"`
	Setting string `json:"setting,omitempty"`
	AskedBy string `json:"askedBy,omitempty"`
}

type settingKey struct{}

// WithSetting returns a context in which rows are taken away because of a setting.
func WithSetting(ctx context.Context, setting string) context.Context {
	return context.WithValue(ctx, settingKey{}, setting)
}

// Explain sets when a removal is, and why: the context's setting, or else its caller.
func (r *Removed) Explain(ctx context.Context) {
	r.At = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	if r.Setting, _ = ctx.Value(settingKey{}).(string); r.Setting == "" {
		r.AskedBy = AskedOf(ctx).By
	}
}

// SealHead is where the books of a cluster say that its chain ends.
type SealHead struct {
	Cluster string
	Number  int64 // 0: no seal yet
	Hash    []byte
	Seq     int64 // the last one given
	Newest  int64 // revision
	// Beginning is the number of the seal that the chain begins with, or of the deletion that it
	// goes on behind; 0 without either.
	Beginning int64
}

// Books are what the row of a cluster says of it, and what is stored.
type Books struct {
	SealHead
	Token                string // of the newest revision
	Revisions, Decisions int64  // how many the books count
	// StoredRevisions and StoredDecisions are how many there are; -1 where they were not counted.
	StoredRevisions, StoredDecisions int64
	TopRevision, TopSeq              int64  // the last ones that are stored
	StoredToken                      string // of the revision that the books call the newest
	Last                             Seal   // the last seal that is stored, without what it is of
}

// SealTable names the rows that seals are of.
type SealTable string

// The tables whose rows are sealed.
const (
	SealDecisions   SealTable = "decisions"
	SealRevisions   SealTable = "revisions"
	SealCheckpoints SealTable = "checkpoints"
	SealGaps        SealTable = "decision_gaps"
	// SealObjects are what revisions changed, by the revision: a hash of all its rows.
	SealObjects SealTable = "revision_changes"
	// SealClasses are the changes of priority classes, by their seq.
	SealClasses SealTable = "priority_class_changes"
)

// SealRow is a row as it is stored, for comparison with its seal.
type SealRow struct {
	// Place is the Seq of a decision, the Number of a revision or a checkpoint, 0 of a gap, and the
	// number that SealItems.Rows has of another.
	Place int64
	ID    string // of a decision or a gap
	Hash  []byte
}

// SchemaFault is something beside the chains that is not as it should be: in a store's schema, or a
// profile that is not the one of its digest.
type SchemaFault struct {
	Object string // its kind and name, such as "view decision_log"
	What   SchemaWhat
	Detail string
}

// SchemaWhat is what is wrong in a schema.
type SchemaWhat string

// What is wrong in a schema.
const (
	SchemaChanged   SchemaWhat = "changed"
	SchemaMissing   SchemaWhat = "missing"
	SchemaInserted  SchemaWhat = "inserted"  // no migration makes it, and it changes what is read or written
	SchemaUnchecked SchemaWhat = "unchecked" // it could not be looked at
)

// Seals reads the hash chains and the rows that they are of.
type Seals interface {
	// SealHeads returns the head of a cluster, or of all that anything is stored of ("": all), by
	// name. What has no books has a zero head, and an unknown cluster none.
	SealHeads(ctx context.Context, cluster string) ([]SealHead, error)
	// Books returns the books of a cluster, or of all ("", by name), read at one moment; count:
	// with how many rows are stored, which reads an index of the cluster's.
	Books(ctx context.Context, cluster string, count bool) ([]Books, error)
	// ListSeals lists a cluster's seals with Number > after, ascending, up to limit (0: all);
	// removals: only those that are not of rows that were added. The list ends early once it holds
	// more than PageBytes.
	ListSeals(ctx context.Context, cluster string, after int64, limit int, removals bool) ([]*Seal, error)
	// Schema returns what of the schema is not as the migrations make it (tables, views and what
	// may change behind them what is read and written), and profiles that are not as their digests.
	Schema(ctx context.Context) ([]SchemaFault, error)
	// SealRows lists the rows of a table with from <= Place <= to, ascending, up to limit, hashed
	// as the format does it. Gaps are all of the cluster's, by ID. Other lists end early once they
	// have read more than PageBytes.
	SealRows(ctx context.Context, table SealTable, format int64, cluster string, from, to int64, limit int) ([]SealRow, error)
}
