// Package batch judges which entries of one Append are written, the same way for every backend: a
// backend locks the clusters, reads the facts that Reads names, calls Judge, and writes what it
// left.
package batch

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/seal"
)

// Batch is one Append.
type Batch struct {
	entries []*store.Entry

	// The facts, which the backend reads. As long as it holds the clusters' locks no other writer
	// adds to them.

	Heads    map[string]*Head       // by cluster
	Tokens   map[RevisionKey]string // of revisions that are stored, and of those that Judge added
	Parents  map[ParentKey]bool     // parents that have a child
	Clusters map[string]string      // the cluster of each decision that is stored, by its id
	// StoredGaps are the gaps that are stored, and those that Judge added.
	StoredGaps map[GapKey]bool
	Stamps     map[lists.Stamp]int64 // numbers of stamps that the store does not remember; 0: to be read
	// Calls are the tokens of the keyed calls that are stored.
	Calls map[CallKey]string
	// Busy are clusters whose chain another process has to itself: none of their new revisions is
	// written. A batch that waited for it would keep what this process has locked from the others,
	// one of which may be whom it waits for.
	Busy map[string]bool

	// What is to be written, in order. Profiles may be stored already.

	Revisions   []*store.Revision
	Checkpoints []*store.Checkpoint
	Profiles    []*store.Profile
	Decisions   []*lists.Row
	Gaps        []*store.Gap
	Holds       []*store.Hold
	Origins     []*store.Origin
	Classes     []*store.ClassRecord
	// Marks are the claims of what is written.
	Marks []*store.KeyedCall

	rows  map[*store.Decision]*lists.Row
	added map[string]*seal.Rows // by cluster
}

// Head is the end of a cluster's chain, and what the batch adds to its counters.
type Head struct {
	Newest               int64
	Token                string
	Seq                  int64 // the last one given before the batch
	Revisions, Decisions int64
	Gaps                 int64
	Classes              int64 // the last place given in the log of classes, where Reads has the cluster in Classes
	// The end of the hash chain; Seals moves it.
	Seal     int64
	SealHash []byte
}

// Changed reports whether the batch adds to the cluster.
func (h *Head) Changed() bool { return h.Revisions > 0 || h.Decisions > 0 || h.Gaps > 0 }

// RevisionKey names a revision.
type RevisionKey struct {
	Cluster string
	Number  int64
}

// GapKey names a gap.
type GapKey struct{ Cluster, ID string }

// CallKey names a keyed call.
type CallKey struct{ Caller, Key string }

// ParentKey names a revision as the parent of another.
type ParentKey struct{ Cluster, Token string }

// New validates entries and looks their stamps up among those that the store remembers.
func New(entries []*store.Entry, stamps *lists.StampIDs) *Batch {
	b := &Batch{
		entries: entries, Heads: map[string]*Head{}, Tokens: map[RevisionKey]string{}, Parents: map[ParentKey]bool{},
		Clusters: map[string]string{}, Stamps: map[lists.Stamp]int64{}, rows: map[*store.Decision]*lists.Row{},
		added: map[string]*seal.Rows{}, StoredGaps: map[GapKey]bool{}, Calls: map[CallKey]string{}, Busy: map[string]bool{},
	}
	for _, e := range entries {
		if e.Err = e.Validate(); e.Err != nil {
			continue
		}
		for d := range e.Decisions() {
			r, ok := lists.NewRow(d), false
			b.rows[d] = r
			if r.StampID, ok = stamps.Get(r.Stamp); !ok {
				b.Stamps[r.Stamp] = 0
			}
		}
	}
	return b
}

// Reads are the keys of the facts that a batch needs, each once and in a fixed order. Numbers and
// Parents name their cluster in the column beside them.
type Reads struct {
	Clusters       []string
	NumberClusters []string
	Numbers        []int64
	ParentClusters []string
	Parents        []string
	IDs            []string
	Gaps           []GapKey
	Classes        []string // clusters whose last place in the log of classes is needed
	Calls          []CallKey
}

// Reads returns the keys of the facts to read.
func (b *Batch) Reads() Reads {
	r := b.ChainReads()
	parents, ids := map[ParentKey]bool{}, map[string]bool{}
	for _, e := range b.entries {
		if e.Err != nil {
			continue
		}
		if v := e.Revision; v != nil {
			parents[ParentKey{v.Cluster, v.ParentToken}] = true
		}
		for d := range e.Decisions() {
			ids[d.ID] = true
		}
	}
	for key := range parents {
		r.ParentClusters, r.Parents = append(r.ParentClusters, key.Cluster), append(r.Parents, key.Token)
	}
	r.IDs = slices.Sorted(maps.Keys(ids))
	return r
}

// ChainReads returns Reads without parents and ids, which unique keys judge as well.
func (b *Batch) ChainReads() Reads {
	var r Reads
	clusters, numbers, classes := map[string]bool{}, map[RevisionKey]bool{}, map[string]bool{}
	for _, e := range b.entries {
		if e.Err != nil {
			continue
		}
		if g := e.Gap; g != nil {
			clusters[g.Cluster] = true
			r.Gaps = append(r.Gaps, GapKey{g.Cluster, g.ID})
		}
		if c := e.Call; c != nil {
			r.Calls = append(r.Calls, CallKey{c.Caller, c.Key})
		}
		if v := e.Revision; v != nil {
			clusters[v.Cluster] = true
			numbers[RevisionKey{v.Cluster, v.Number}] = true
			if len(v.Classes) > 0 {
				classes[v.Cluster] = true
			}
		}
		if o := e.Origin; o != nil { // its cluster is locked, so that what was read of it stays
			clusters[o.Source] = true
			numbers[RevisionKey{o.Source, o.SourceNumber}] = true
		}
		for d := range e.Decisions() {
			clusters[d.Cluster] = true
			if d.Revision != 0 {
				numbers[RevisionKey{d.Cluster, d.Revision}] = true
			}
		}
	}
	r.Clusters, r.Classes = slices.Sorted(maps.Keys(clusters)), slices.Sorted(maps.Keys(classes))
	slices.SortFunc(r.Calls, func(a, b CallKey) int { return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Key, b.Key)) })
	for key := range numbers {
		r.NumberClusters, r.Numbers = append(r.NumberClusters, key.Cluster), append(r.Numbers, key.Number)
	}
	return r
}

// Changed returns the clusters that the batch adds to, by name.
func (b *Batch) Changed() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(b.Heads)), func(c string) bool { return !b.Heads[c].Changed() })
}

// addProfile takes a profile once; by digest, so that writers take their locks in one order.
func (b *Batch) addProfile(p *store.Profile) {
	i, found := slices.BinarySearchFunc(b.Profiles, p.Digest, func(p *store.Profile, digest string) int { return strings.Compare(p.Digest, digest) })
	if !found {
		b.Profiles = slices.Insert(b.Profiles, i, p)
	}
}
