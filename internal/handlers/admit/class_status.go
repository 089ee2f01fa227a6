package admit

import (
	"cmp"
	"slices"
)

// ClassStatus is how busy a class of calls is.
type ClassStatus struct {
	Class string `json:"class"`
	// Slots is how many calls run at once, of all callers and clusters.
	Slots   int `json:"slots"`
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	// Released are the calls that only wait for their record and so hold no slot.
	Released int `json:"released"`
	// By is what its lanes are of: cluster or caller.
	By    string       `json:"by,omitempty"`
	Lanes []LaneStatus `json:"lanes,omitempty"`
}

// LaneStatus is how busy the calls of one cluster or caller are.
type LaneStatus struct {
	Key     string `json:"key"`
	Running int    `json:"running"`
	Waiting int    `json:"waiting"`
}

// Calls returns how busy each class of calls is.
func (a *Admission) Calls() []ClassStatus {
	return []ClassStatus{
		a.FilterCalls.status("filter"), a.NodesCalls.status("nodes"), a.BindCalls.status("bind"), a.PassCalls.status("shadow pass"),
		a.SnapshotCalls.status("snapshot"), a.DecisionCalls.status("decision"), a.ReplayCalls.status("replay"),
		a.ScenarioCalls.status("scenario"), a.ReadCalls.status("read"), a.QueryCalls.status("query"),
	}
}

func (c *CallClass) status(name string) ClassStatus {
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	s := ClassStatus{Class: name, Slots: g.total, Running: g.running, Waiting: g.waiting, Released: g.released}
	if c.byCluster {
		s.By = "cluster"
		for key, l := range g.lanes {
			s.Lanes = append(s.Lanes, LaneStatus{key, l.running, l.waiting})
		}
	} else {
		s.By = "caller"
		for key, f := range g.flows {
			s.Lanes = append(s.Lanes, LaneStatus{key.String(), f.running, f.waiters.Len()})
		}
	}
	slices.SortFunc(s.Lanes, func(a, b LaneStatus) int { return cmp.Compare(a.Key, b.Key) })
	return s
}
