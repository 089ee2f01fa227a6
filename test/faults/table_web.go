package main

// webFaults are faults of the explorer.
var webFaults = []fault{
	{"page-json-for-browsers", "a browser that takes JSON, too, gets no page", "./internal/handlers/web", "TestPagesAnswerJSON", []edit{
		{"internal/handlers/web/site.go", `&& !strings.Contains(accept, "text/html")`, ``},
	}},
	{"page-title-unescaped", "a picture's text is not escaped", "./internal/handlers/web", "TestPictures", []edit{
		{"internal/handlers/web/map.go", `html.EscapeString(c.title)`, `html.UnescapeString(c.title)`},
	}},
	{"page-status-lost", "an error's page has status 200", "./internal/handlers/web", "TestPagesShowWhatIsWrong", []edit{
		{"internal/handlers/web/site.go", `s.write(w, p.Status, "error"`, `s.write(w, http.StatusOK, "error"`},
	}},
	{"board-forgets-equal-pods", "equal pods behind the first are not counted", "./internal/handlers/web", "TestBoardFoldsEqualPods", []edit{
		{"internal/handlers/web/pending.go", `w.Others++`, `w.Others = 1`},
	}},
	{"rounds-of-listed", "the rounds of the choice forget the candidates that fell", "./internal/engine/preempt", "TestEachRoundOfTheChoice", []edit{
		{"internal/engine/preempt/explain.go", `left := len(s.candidates)`, `left := 1`},
	}},
	{"page-mistake-loses-form", "a mistake takes the form away", "./internal/handlers/web", "TestMistakesKeepTheForm", []edit{
		{"internal/handlers/web/site.go", `mistaken(f.View, err, v.typed)`, `mistaken(nil, err, v.typed)`},
	}},
	{"map-groups-not-summed", "groups that are drawn as one have the use of the first", "./internal/handlers/web", "TestMapFigures", []edit{
		{"internal/handlers/web/map.go", `out[n].part+groups[i].part`, `out[n].part`},
	}},
	{"drain-block-unsaid", "a drain that a budget blocks reads like one that went well", "./internal/handlers/web", "TestDrainSaysWhatIsInTheWay", []edit{
		{"internal/handlers/web/drain.go", `case len(blocked) > 0:`, `case len(blocked) > len(d.Pods)+1<<20:`},
	}},
	{"ledger-over-the-limit", "a domain over the limit counts as allowed", "./internal/handlers/web", "TestLedgerFoldsDomains", []edit{
		{"internal/handlers/web/ledger.go", `(!out.Hard || d.SkewIfPlaced <= int(c.MaxSkew))`, `(!out.Hard || d.SkewIfPlaced <= int(c.MaxSkew)+1)`},
	}},
	{"preview-recorded", "a preview decides under the default configuration", "./internal/handlers", "TestPreviewOfYAML", []edit{
		{"internal/handlers/rest/previews.go", `if list == nil {`, `if list != nil {`},
	}},
	{"link-for-programs", "a program that reads stderr gets a link, too", "./internal/cli", "TestLinkToThePage", []edit{
		{"internal/cli/page.go", `!a.Watched || `, ``},
	}},
	{"query-may-write", "a ready query may write", "./internal/store/sqlite", "TestStore/Queries/ChangesNothing", []edit{
		{"internal/store/sqlite/dsn.go", `"query_only(1)"`, `"query_only(0)"`},
	}},
	{"query-unbounded", "a ready query's answer has no bound of bytes", "./internal/store/sqlite", "TestStore/Queries/BytesAreBounded", []edit{
		{"internal/store/sqlite/queries.go", `if !t.Add(row, &left) {`, `if left = 1 << 30; !t.Add(row, &left) {`},
	}},
	{"query-deadline-lost", "a ready query that took too long is an error of the server", "./internal/handlers", "TestReadyQueryAsCSV", []edit{
		{"internal/handlers/rest/queries.go", `if errors.Is(err, context.DeadlineExceeded) {`, `if errors.Is(err, context.Canceled) {`},
	}},
	{"query-limit-exceeded", "a ready query answers with a row more than its limit", "./internal/handlers", "TestReadyQueryAsCSV", []edit{
		{"internal/handlers/rest/queries.go", `answer.Rows, answer.More = answer.Rows[:limit], true`, `answer.More = true`},
	}},
	{"decisions-as-sql-forget", "the query and the file of the page of decisions forget its filters", "./internal/handlers/web", "TestDecisionsAsSQLAndCSV", []edit{
		{"internal/handlers/web/decisions.go", `if value := v.query.Get(name); value != "" {`, `if value := v.query.Get(name); name == "cluster" {`},
	}},
	{"scores-bins-overlap", "ranges of points overlap", "./internal/handlers/web", "TestBinsHoldEveryNode", []edit{
		{"internal/handlers/web/scores.go", `max(bins[i].To-width+1, low)`, `max(bins[i].To-width, low)`},
	}},
}
