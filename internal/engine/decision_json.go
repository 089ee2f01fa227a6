package engine

import "berth/internal/jsonscan"

// WriteMembers writes the decision's members but for its profile, as encoding/json does, which
// takes five times as long: an answer is written for each bind.
func (d *Decision) WriteMembers(w *jsonscan.Writer) {
	d.WriteHead(w)
	jsonscan.OptObjects(w, `,"nodes":`, d.Nodes, WriteVerdict)
	d.WriteLists(w, nil)
	d.WriteEnd(w)
}

// WriteHead writes the members ahead of the nodes.
func (d *Decision) WriteHead(w *jsonscan.Writer) {
	w.Text(`"outcome":`, string(d.Outcome))
	w.OptText(`,"node":`, d.Node)
	w.OptText(`,"nominatedNode":`, d.NominatedNode)
	w.Text(`,"message":`, d.Message)
	w.Int(`,"priority":`, int64(d.Priority))
	w.OptTexts(`,"gates":`, d.Gates)
}

// WriteLists writes the members behind the nodes, up to those that depend on the chosen one. best
// writes that member, nil where the decision has it.
func (d *Decision) WriteLists(w *jsonscan.Writer, best func(*jsonscan.Writer)) {
	w.OptInt(`,"nodesOmitted":`, int64(d.NodesOmitted))
	w.Int(`,"counts":{"nodes":`, int64(d.Counts.Nodes))
	w.Int(`,"feasible":`, int64(d.Counts.Feasible))
	w.JSON = append(w.JSON, '}')
	jsonscan.OptObjects(w, `,"failures":`, d.Failures, func(w *jsonscan.Writer, f *FailureCount) {
		w.Text(`"plugin":`, f.Plugin)
		w.Text(`,"code":`, f.Code)
		w.Text(`,"reason":`, f.Reason)
		w.Int(`,"nodes":`, int64(f.Nodes))
	})
	if best != nil {
		best(w)
	} else {
		w.OptTexts(`,"best":`, d.Best)
	}
	w.OptRef(`,"margin":`, d.Margin)
	jsonscan.OptValues(w, `,"topologySpread":`, d.Spread)
	if d.Preemption != nil {
		w.Value(`,"preemption":`, d.Preemption)
	}
}

// WriteEnd writes the last members.
func (d *Decision) WriteEnd(w *jsonscan.Writer) {
	jsonscan.OptValues(w, `,"volumes":`, d.Volumes)
	jsonscan.OptValues(w, `,"devices":`, d.Devices)
	jsonscan.OptValues(w, `,"notEvaluated":`, d.NotEvaluated)
	w.Text(`,"digest":`, d.Digest)
}

// WriteVerdict writes the members of the verdict on a node.
func WriteVerdict(w *jsonscan.Writer, v *NodeVerdict) {
	w.Text(`"name":`, v.Name)
	w.Bool(`,"feasible":`, v.Feasible)
	w.OptRef(`,"score":`, v.Score)
	jsonscan.OptObjects(w, `,"scores":`, v.Scores, func(w *jsonscan.Writer, s *PluginScore) {
		w.Text(`"plugin":`, s.Plugin)
		w.Int(`,"raw":`, s.Raw)
		w.Int(`,"normalized":`, s.Normalized)
		w.Int(`,"weight":`, s.Weight)
		w.Int(`,"weighted":`, s.Weighted)
		jsonscan.OptValues(w, `,"parts":`, s.Parts)
	})
	w.OptText(`,"plugin":`, v.Plugin)
	w.OptText(`,"code":`, v.Code)
	w.OptText(`,"stage":`, string(v.Stage))
	w.OptTexts(`,"reasons":`, v.Reasons)
	jsonscan.OptObjects(w, `,"details":`, v.Details, writeDetail)
	jsonscan.OptValues(w, `,"alsoFailing":`, v.AlsoFailing)
	jsonscan.OptValues(w, `,"notJudged":`, v.NotJudged)
}

func writeDetail(w *jsonscan.Writer, d *Detail) {
	w.Text(`"kind":`, d.Kind)
	w.OptText(`,"key":`, d.Key)
	w.OptText(`,"value":`, d.Value)
	w.OptText(`,"effect":`, d.Effect)
	w.OptText(`,"name":`, d.Name)
	w.OptRef(`,"requested":`, d.Requested)
	w.OptRef(`,"available":`, d.Available)
	w.OptRef(`,"capacity":`, d.Capacity)
	w.OptText(`,"topologyKey":`, d.TopologyKey)
	w.OptText(`,"domain":`, d.Domain)
	w.OptRef(`,"matching":`, d.Matching)
	w.OptRef(`,"skew":`, d.Skew)
	w.OptRef(`,"maxSkew":`, d.MaxSkew)
	w.OptText(`,"protocol":`, d.Protocol)
	w.OptText(`,"hostIP":`, d.HostIP)
	w.OptInt(`,"port":`, int64(d.Port))
	w.OptText(`,"term":`, d.Term)
	w.OptText(`,"claim":`, d.Claim)
	w.OptText(`,"request":`, d.Request)
	w.OptText(`,"volume":`, d.Volume)
	jsonscan.OptValues(w, `,"blockers":`, d.Blockers)
	w.OptInt(`,"blockersOmitted":`, int64(d.BlockersOmitted))
}
