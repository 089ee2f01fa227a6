package admin

import (
	"time"

	"berth/internal/handlers/admit"
)

// Status is what a server is and does at one moment.
type Status struct {
	Version    string    `json:"version"`
	Commit     string    `json:"commit"`
	Go         string    `json:"go"`
	Platform   string    `json:"platform"`
	Kubernetes string    `json:"kubernetes"` // whose semantics decisions have
	Started    time.Time `json:"started"`
	Uptime     string    `json:"uptime"`
	Goroutines int       `json:"goroutines"`
	Memory     Memory    `json:"memory"`
	// Calls are the classes of calls, each with its slots and its queue.
	Calls []admit.ClassStatus `json:"calls"`
	// Records are those that wait for the store.
	Records  Queue     `json:"records"`
	Store    Store     `json:"store"`
	Spool    *Spool    `json:"spool,omitempty"`
	Clusters []Cluster `json:"clusters"`
}

// Memory is in bytes.
type Memory struct {
	Heap   uint64 `json:"heap"`
	System uint64 `json:"system"`
	// Limit is the collector's.
	Limit int64 `json:"limit"`
	// Claimed is what requests have taken of the budget for them.
	Claimed int64 `json:"claimed"`
	Budget  int64 `json:"budget"`
}

// Queue is one that has a bound.
type Queue struct {
	Length   int `json:"length"`
	Capacity int `json:"capacity"`
}

// Store is where records are kept.
type Store struct {
	Backend string `json:"backend"`
	// Problem is why it does not answer; empty if it does.
	Problem string `json:"problem,omitempty"`
	// Files are those of the embedded store, in bytes.
	Files map[string]int64 `json:"files,omitempty"`
}

// Spool is what waits for the database.
type Spool struct {
	Away        bool       `json:"away"`
	Records     int64      `json:"records"`
	Bytes       int64      `json:"bytes"`
	Limit       int64      `json:"limit"`
	Oldest      *time.Time `json:"oldest,omitempty"`
	Drained     int64      `json:"drained"`
	Quarantined int64      `json:"quarantined"`
	Problem     string     `json:"problem,omitempty"`
}

// Cluster is one whose newest state is in memory, or that is followed.
type Cluster struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision,omitempty"`
	// Age is that of the revision.
	Age string `json:"age,omitempty"`
	// Objects are counted by kind.
	Objects map[string]int `json:"objects,omitempty"`
	// Bytes is about what its newest state takes in memory.
	Bytes  int64   `json:"bytes,omitempty"`
	Follow *Follow `json:"follow,omitempty"`
	// Damaged is why the newest revision cannot be loaded.
	Damaged string `json:"damaged,omitempty"`
}

// Follow is how following a cluster goes.
type Follow struct {
	Leading    bool   `json:"leading"`
	Synced     bool   `json:"synced"`
	Stale      string `json:"stale"`
	Unreadable int    `json:"unreadable"`
	Problem    string `json:"problem,omitempty"`
}

// hide puts aliases for names, and takes away texts of errors, which may quote some.
func (s *Status) hide(names *aliases) {
	hide := func(text *string) {
		if *text != "" {
			*text = hiddenText
		}
	}
	for i := range s.Calls {
		lanes := s.Calls[i].Lanes
		for j := range lanes {
			if lanes[j].Key != "" {
				lanes[j].Key = names.of(s.Calls[i].By, lanes[j].Key)
			}
		}
	}
	hide(&s.Store.Problem)
	if s.Spool != nil {
		hide(&s.Spool.Problem)
	}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		c.Name = names.of("cluster", c.Name)
		hide(&c.Damaged)
		if c.Follow != nil {
			hide(&c.Follow.Problem)
		}
	}
}
