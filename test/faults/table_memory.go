package main

// memoryFaults are faults of the memory budget, and of the calls that take from it.
var memoryFaults = []fault{
	{"memory-heap-unseen", "a large amount is given although the heap has no room for it", "./internal/memory", "TestBudgetHeedsTheHeap", []edit{
		{"internal/memory/memory.go", `if allocated+need <= b.ceiling() {`, `if allocated+need <= b.ceiling() || true {`},
	}},
	{"memory-garbage-kept", "garbage on the heap is taken for what is in use, and caches are dropped", "./internal/memory", "TestBudgetHeedsTheHeap", []edit{
		{"internal/memory/memory.go", `b.collect(live+need > b.ceiling())`, `b.collect(max(live, allocated)+need > b.ceiling())`},
	}},
	{"memory-outside-unseen", "what is taken outside of the heap leaves the collector's limit as it is", "./internal/memory", "TestOutside", []edit{
		{"internal/memory/memory.go", `limit := b.total - b.outside.Add(n)`, `limit := b.total - 0*b.outside.Add(n)`},
	}},
	{"memory-kept-after-upload", "the memory of a large request stays with the process", "./internal/memory", "TestGiveBack", []edit{
		{"internal/memory/memory.go", `if n >= huge {`, `if n >= huge && false {`},
	}},
	{"delta-drifts", "a piece of a packed object comes from another place of its base", "./internal/revision", "TestPackedObjects", []edit{
		{"internal/revision/packed.go", `shift = from - at
		at += n`, `shift = 0
		at += n`},
	}},
	{"large-base-kept", "a small object keeps a large one in memory that is deleted", "./internal/revision", "TestLargeBases", []edit{
		{"internal/revision/packed.go", `min(maxBase, baseShare*len(e.text))`, `maxBase`},
	}},
	{"bases-unbounded", "objects that later ones may be packed against are kept for ever", "./internal/revision", "TestLargeBases", []edit{
		{"internal/revision/packed.go", `b.byKey == nil || b.bytes > maxBases`, `b.byKey == nil`},
	}},
	{"garbage-uncounted", "the pods that PodGC would delete count against no budget", "./internal/handlers", "TestLongAnswersAreCounted", []edit{
		{"internal/report/garbage.go", `raw, _ := v.Object(object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name})
		if err := memory.Take(ctx, object.Weight(raw)); err != nil {`, `raw, _ := v.Object(object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name})
		if err := memory.Take(ctx, 0*object.Weight(raw)); err != nil {`},
	}},
	{"queue-uncounted", "a long queue counts against no budget", "./internal/handlers", "TestLongAnswersAreCounted", []edit{
		{"internal/decision/record/queue.go", `memory.Take(ctx, QueueBytes(v, runs))`, `memory.Take(ctx, 0*QueueBytes(v, runs))`},
	}},
	{"list-uncounted", "a list of decisions counts against no budget", "./internal/handlers", "TestLongAnswersAreCounted", []edit{
		{"internal/store/sqlite/decisions.go", `if err := rows.Scan(lists.Listed.Targets(d)...); err != nil {
			return nil, s.toStoreErr(err)
		}
		if err := memory.Take(ctx, d.Footprint()); err != nil {`, `if err := rows.Scan(lists.Listed.Targets(d)...); err != nil {
			return nil, s.toStoreErr(err)
		}
		if err := memory.Take(ctx, 0*d.Footprint()); err != nil {`},
	}},
	{"relabelled-not-derived", "a node that is relabelled keeps its place in the columns", "./internal/engine/state", "TestRetainted", []edit{
		{"internal/engine/state/nodeset.go", `return maps.Equal(n.Labels, o.Labels) && `, `return `},
	}},
	{"taints-out-of-order", "distinct lists of taints stay once no node has them", "./internal/engine/state", "TestRetainted", []edit{
		{"internal/engine/state/nodeset.go", `s.taintSet[r] = *at - 1`, `_ = at`},
	}},
}
