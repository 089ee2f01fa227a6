package podlife

// expected is what an answer with real exits has beside the slowest one.
func (t *Termination) expected() *ExpectedEnd {
	out := &ExpectedEnd{GoneAfterSeconds: t.GoneAfterSeconds, Phase: t.Phase, Reason: t.Reason, Timeline: t.Timeline, Containers: []ExpectedStop{}}
	for _, s := range t.Containers {
		out.Containers = append(out.Containers, ExpectedStop{s.Name, s.SignalAt, s.end, s.code})
	}
	return out
}
