package web

// menu is the list of pages in the head of every page.
var menu = []menuEntry{
	{"Pending", ""},
	{"Queue", "queue"},
	{"Decisions", "decisions"},
	{"Snapshots", "snapshots"},
	{"Map", "map"},
	{"Capacity", "capacity"},
	{"SQL", "sql"},
	{"What if", "fit"},
	{"Play", "play"},
	{"Settings", "settings"},
}

// questionPages are the pages about what comes next.
var questionPages = []menuEntry{
	{"Fit", "fit"}, {"Drain", "drain"}, {"Lose", "lose"}, {"Pools", "pools"}, {"Simulate", "simulate"},
}

// pages is the table of all pages.
var pages = []page{
	{path: "/", template: "pending", nav: "Pending", data: pendingData, load: loadPending, judges: true},
	{path: "/pods/{namespace}/{name}", template: "pod", nav: "Pending", data: podData, load: loadPod, judges: true},
	{path: "/queue", template: "queue", nav: "Queue", data: queueData, load: loadQueue},
	{path: "/decisions", template: "decisions", nav: "Decisions", data: decisionsData, load: loadDecisions},
	{path: "/decisions/{id}", template: "decision", nav: "Decisions", data: decisionData, load: loadDecision, still: true},
	{path: "/decisions/{id}/nodes/{node}", template: "node", nav: "Decisions", load: loadNode, still: true},
	{path: "/decisions/{id}/replay", template: "replay", nav: "Decisions", load: loadReplay, still: true},
	{path: "/compare", template: "compare", nav: "Snapshots", data: compareData, load: loadCompare, still: true},
	{path: "/snapshots", template: "snapshots", nav: "Snapshots", data: snapshotsData, load: loadSnapshots},
	{path: "/snapshots/{id}", template: "snapshot", nav: "Snapshots", data: snapshotData, load: loadSnapshot},
	{path: "/play", template: "play", nav: "Play", load: loadPlay},
	{path: "/jobs/{id}", template: "job", nav: "What if", data: jobData, load: loadJob, still: true},
	{path: "/sql", template: "sql", nav: "SQL", data: queryData, load: loadSQL, still: true},
	{path: "/settings", template: "settings", nav: "Settings", load: loadSettings},
	{path: "/find", template: "error", load: loadFound},
	{path: "/capacity", template: "capacity", nav: "Capacity", data: capacityData, load: loadCapacity, judges: true},
	{path: "/map", template: "map", nav: "Map", data: mapData, load: loadMap, judges: true},
	{path: "/fit", template: "whatif", nav: "What if", load: loadWhatIf("fit"), still: true, judges: true},
	{path: "/drain", template: "whatif", nav: "What if", load: loadWhatIf("drain"), still: true, judges: true},
	{path: "/lose", template: "whatif", nav: "What if", load: loadWhatIf("lose"), still: true, judges: true},
	{path: "/pools", template: "whatif", nav: "What if", load: loadWhatIf("pools"), still: true, judges: true},
	{path: "/simulate", template: "whatif", nav: "What if", load: loadWhatIf("simulate"), still: true, judges: true},
}
