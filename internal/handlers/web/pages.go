package web

// menu is the rooms of the explorer, and their pages.
var menu = []menuRoom{
	{"Now", []menuEntry{{"Waiting", ""}, {"Queue", "queue"}, {"Nodes", "nodes"}, {"Map", "map"}, {"Capacity", "capacity"}}},
	{"History", []menuEntry{{"Decisions", "decisions"}, {"Revisions", "snapshots"}, {"Queries", "sql"}}},
	{"What if", questionPages},
	{"Lab", []menuEntry{{"Playground", "play"}}},
}

// questionPages are the pages about what comes next.
var questionPages = []menuEntry{
	{"Fit", "fit"}, {"Drain", "drain"}, {"Lose", "lose"}, {"Pools", "pools"}, {"Simulate", "simulate"},
}

// pages is the table of all pages.
var pages = []page{
	{path: "/", template: "pending", nav: "Waiting", data: pendingData, load: loadPending, judges: true},
	{path: "/pods/{namespace}/{name}", template: "pod", list: "both", data: podData, load: loadPod, judges: true},
	{path: "/queue", template: "queue", nav: "Queue", list: "both", data: queueData, load: loadQueue},
	{path: "/decisions", template: "decisions", nav: "Decisions", list: "decisions", data: decisionsData, load: loadDecisions},
	{path: "/decisions/{id}", template: "decision", nav: "Decisions", data: decisionData, load: loadDecision, still: true},
	{path: "/decisions/{id}/nodes/{node}", template: "node", nav: "Decisions", load: loadNode, still: true},
	{path: "/decisions/{id}/replay", template: "replay", nav: "Decisions", load: loadReplay, still: true},
	{path: "/compare", template: "compare", nav: "Revisions", data: compareData, load: loadCompare, still: true},
	{path: "/snapshots", template: "snapshots", nav: "Revisions", data: snapshotsData, load: loadSnapshots},
	{path: "/snapshots/{id}", template: "snapshot", nav: "Revisions", data: snapshotData, load: loadSnapshot},
	{path: "/play", template: "play", nav: "Playground", load: loadPlay},
	{path: "/jobs/{id}", template: "job", nav: "What if", data: jobData, load: loadJob, still: true},
	{path: "/sql", template: "sql", nav: "Queries", data: queryData, load: loadSQL, still: true},
	{path: "/settings", template: "settings", nav: "Settings", load: loadSettings},
	{path: "/find", template: "find", load: loadFound, still: true},
	{path: "/nodes", template: "nodes", nav: "Nodes", data: nodesData, load: loadNodes},
	{path: "/nodes/{name}", template: "nodepage", nav: "Nodes", load: loadNodePage, judges: true},
	{path: "/capacity", template: "capacity", nav: "Capacity", data: capacityData, load: loadCapacity, judges: true},
	{path: "/map", template: "map", nav: "Map", data: mapData, load: loadMap, judges: true},
	{path: "/fit", template: "whatif", nav: "Fit", load: loadWhatIf("fit"), still: true, judges: true},
	{path: "/drain", template: "whatif", nav: "Drain", load: loadWhatIf("drain"), still: true, judges: true},
	{path: "/lose", template: "whatif", nav: "Lose", load: loadWhatIf("lose"), still: true, judges: true},
	{path: "/pools", template: "whatif", nav: "Pools", load: loadWhatIf("pools"), still: true, judges: true},
	{path: "/simulate", template: "whatif", nav: "Simulate", load: loadWhatIf("simulate"), still: true, judges: true},
}
