package store

// What a record takes beside its texts until an answer with it is written out: as read, as a row of
// the answer, and in the answer's text.
const recordBytes = 2 << 10

// Footprint bounds from above what a decision takes in an answer, in bytes, its input as stored
// included.
func (d *Decision) Footprint() int64 {
	texts := len(d.Cluster) + len(d.Namespace) + len(d.Pod) + len(d.PodUID) + len(d.Profile) + len(d.Outcome) + len(d.Node) + len(d.NominatedNode) + len(d.Message) + len(d.Facts) + len(d.Blockers) + len(d.Placement)
	for i := range d.Failures {
		f := &d.Failures[i]
		texts += 256 + len(f.Plugin) + len(f.Code) + len(f.Reason)
		for _, name := range f.Names {
			texts += 64 + len(name)
		}
		for _, p := range f.Pools {
			texts += 64 + len(p.Pool)
		}
	}
	for i := range d.Scores {
		texts += 256 + len(d.Scores[i].Node)
	}
	for i := range d.Victims {
		v := &d.Victims[i]
		texts += 256 + len(v.Namespace) + len(v.Pod) + len(v.UID) + len(v.Node) + len(v.OwnerKind) + len(v.OwnerName)
		if v.Budget != nil {
			texts += len(*v.Budget)
		}
	}
	return recordBytes + 4*int64(texts) + int64(len(d.Input))
}

// Footprint bounds what a revision takes in an answer.
func (r *Revision) Footprint() int64 {
	return recordBytes + int64(len(r.Change)+len(r.Woken)) + 4*int64(len(r.Summary))
}

// Footprint bounds what a difference takes in an answer.
func (d *ReplayDifference) Footprint() int64 { return recordBytes + 6*int64(len(d.Payload)) }

// Footprint bounds what the attempts at a pod take in an answer.
func (a *FailedAttempts) Footprint() int64 {
	return 512 + 4*int64(len(a.Namespace)+len(a.Pod)+len(a.UID))
}
