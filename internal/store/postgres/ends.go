package postgres

import (
	"sync"

	"berth/internal/store/batch"
)

// Bounds of what ends remembers: beyond them it begins anew, and to read again does no harm.
const (
	maxEnds         = 1024
	maxEndRevisions = 1024
)

// ends remembers where the last writes of this process left the chains of clusters. As long as no
// other writer adds to a chain, a batch need not read what it stands on, and is one round trip: the
// statement that moves the chain's end finds out whether it is still there. Every change of a
// cluster's rows moves it. It is safe for concurrent use; the zero value is ready.
type ends struct {
	mu sync.Mutex
	of map[string]end // by cluster; none while a batch is under way that was judged by it
}

// end is the end of a chain after a commit.
type end struct {
	head      batch.Head
	revisions map[int64]string // tokens of some that are stored, by number
	// alone is whether the write before was this process's as well. Where replicas take turns a
	// batch that reads nothing would be written in vain each time.
	alone bool
}

// take fills a batch's facts with what is remembered, and reports whether that is all of them. What
// it uses is forgotten until put.
func (m *ends) take(a *appending) bool {
	reads := a.ChainReads()
	if len(reads.Clusters) == 0 || len(reads.Gaps)+len(reads.Classes)+len(reads.Calls) > 0 || len(a.Stamps) > 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, cluster := range reads.Clusters {
		if e, ok := m.of[cluster]; !ok || !e.alone {
			return false
		}
	}
	tokens := map[batch.RevisionKey]string{}
	for i, cluster := range reads.NumberClusters {
		number, e := reads.Numbers[i], m.of[cluster]
		if token, ok := e.revisions[number]; ok {
			tokens[batch.RevisionKey{Cluster: cluster, Number: number}] = token
		} else if number <= e.head.Newest {
			return false
		}
	}
	a.Tokens = tokens
	// That a parent has no child yet and that no decision is stored, unique keys find out.
	for _, cluster := range reads.Clusters {
		e := m.of[cluster]
		h := e.head
		a.Heads[cluster], a.left[cluster] = &h, e
		delete(m.of, cluster)
	}
	return true
}

// forget is for a database whose chains may have other ends now.
func (m *ends) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of = nil
}

// put remembers the ends of the chains that a committed batch has added to.
func (m *ends) put(a *appending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of)+len(a.Heads) > maxEnds {
		m.of = map[string]end{}
	}
	for _, cluster := range a.Changed() {
		e, alone := a.left[cluster]
		if !alone {
			e = m.of[cluster]
			alone = e.head.Seal > 0 && e.head.Seal == a.from[cluster].Number
		}
		if !alone || len(e.revisions) > maxEndRevisions {
			e.revisions = map[int64]string{} // others may have deleted some
		}
		h := a.Heads[cluster]
		if h.Newest > 0 {
			e.revisions[h.Newest] = h.Token
		}
		e.alone = alone
		e.head = batch.Head{Newest: h.Newest, Token: h.Token, Seq: h.Seq + h.Decisions, Seal: h.Seal, SealHash: h.SealHash}
		m.of[cluster] = e
	}
	for key, token := range a.Tokens {
		if e := m.of[key.Cluster]; a.from[key.Cluster].Cluster != "" {
			e.revisions[key.Number] = token
		}
	}
}
