package main

// handlerFaults are faults of the API, the ledger and the command line.
var handlerFaults = []fault{
	{"watch-from-the-start", "a stream that is opened again begins where the first one did", "./internal/cli", "TestWatchGoesOn", []edit{
		{"internal/cli/ledger/watch.go", `after, pause = last, leastPause`, `pause = leastPause`},
	}},
	{"page-as-state", "a page of a list is taken for a whole state", "./internal/handlers", "TestObjectFilters", []edit{
		{"internal/kube/object/read_json.go", `if in.unfinished = nil; paged {`, `if in.unfinished = nil; paged && false {`},
	}},
	{"filter-first-only", "of several filters of a list only the first counts", "./internal/handlers", "TestObjectFilters", []edit{
		{"internal/handlers/rest/objects.go", `slices.ContainsFunc(all, func`, `slices.ContainsFunc(all[:1], func`},
	}},
	{"body-before-admission", "a body is read before it is its turn", "./internal/handlers", "TestRefusedBeforeTheBodyIsRead", []edit{
		{"internal/handlers/admit/admit.go", `import (`, `import (
	"bytes"
	"io"`},
		{"internal/handlers/admit/admit.go", `until := time.Now().Add(c.deadline)`, `until := time.Now().Add(c.deadline)
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))`},
	}},
	{"control-plane-shown", "a caller of one namespace sees the pods of the control plane", "./internal/handlers", "TestRunning", []edit{
		{"internal/handlers/rest/clusters.go", `if !admit.Sees(r.Context(), c.Name, "") {`, `if false {`},
	}},
	{"running-unheeded", "a cluster that runs another release than decisions follow is not told of", "./internal/handlers", "TestRunning", []edit{
		{"internal/report/running.go", `if !decides.Follows(c.Version) {`, `if false {`},
	}},
	{"profiles-of-one-release", "what was asked under another release is answered with the profiles that were read first", "./internal/handlers", "TestReleasesInTurns", []edit{
		{"internal/decision/configuration.go", `c.under[stamp] = list`, `c.under[""] = list`},
		{"internal/decision/configuration.go", `if list := c.under[stamp]; list != nil {`, `if list := c.under[""]; list != nil {`},
	}},
	{"caller-rate-off", "a caller over its rate is answered all the same", "./internal/handlers/admit", "TestCallerRate", []edit{
		{"internal/handlers/admit/caller_limits.go", `if !allowed {`, `if !allowed && false {`},
	}},
	{"callers-share-a-bucket", "one caller's calls count against another's rate", "./internal/handlers", "TestCallersOverHTTP", []edit{
		{"internal/handlers/exchange/caller.go", `return store.AskedOf(ctx).By //`, `return i.Kind + store.Asked{}.By //`},
	}},
	{"callers-unbounded", "each caller that ever called is remembered", "./internal/handlers/admit", "TestCallersAreBounded", []edit{
		{"internal/handlers/admit/caller_limits.go", `len(c.callers) >= maxCallers;`, `len(c.callers) >= maxCallers && false;`},
	}},
	{"gate-queue-unbounded", "any number of calls may wait for their turn", "./internal/handlers", "TestOverloadIsRefusedFast", []edit{
		{"internal/handlers/admit/gate.go", `if g.full(l) {`, `if g.full(l) && false {`},
	}},
	{"cors-any-origin", "a page of any origin reads the API once one is named", "./internal/handlers", "TestCORS", []edit{
		{"internal/handlers/admit/cors.go", `!slices.Contains(a.origins, from[0])`, `!slices.Contains(a.origins, from[0]) && len(a.origins) == 0`},
	}},
	{"cors-forms", "a form on a named origin's page is sent with the browser's certificate", "./internal/handlers", "TestEveryRouteChecksHostAndOrigin", []edit{
		{"internal/handlers/admit/cors.go", `mode != "" && mode != "cors"`, `mode == "never"`},
	}},
	{"clusters-of-others-count", "clusters that others made count against an identity", "./internal/handlers", "TestClustersOfOneIdentity", []edit{
		{"internal/handlers/rest/clusters.go", `CreatedBy: by, Limit: most`, `Limit: most`},
	}},
	{"gate-first-come", "slots go to the calls that came first, whoever sent them", "./internal/handlers/admit", "TestCallersTakeTurns", []edit{
		{"internal/handlers/admit/gate.go", `g.turns.MoveToBack(w.flow.turn)`, `g.turns.MoveToFront(w.flow.turn)`},
	}},
	{"gate-greedy-keeps-places", "one caller keeps all places to wait from the others", "./internal/handlers/admit", "TestGreediestGivesWay", []edit{
		{"internal/handlers/admit/gate.go", `if newest == nil {`, `if newest != nil || newest == nil {`},
	}},
	{"gate-forgets-no-caller", "a gate keeps what it knows of every caller there was", "./internal/handlers/admit", "TestGateIsItsTwin", []edit{
		{"internal/handlers/admit/gate.go", `delete(g.flows, f.caller)`, `clear(map[exchange.Caller]*flow{})`},
	}},
	{"identity-takes-all-slots", "one identity holds all slots of a class", "./internal/handlers/admit", "TestOneIdentityLeavesASlot", []edit{
		{"internal/handlers/admit/gate.go", `min(most, g.total-1,`, `min(most, g.total,`},
	}},
	{"slot-kept-until-the-record", "a call holds its slot while its record is written", "./internal/handlers/admit", "TestReleased", []edit{
		{"internal/handlers/admit/gate.go", `if !p.gone && p.g.released < mostReleased {`, `if !p.gone && p.g.released < mostReleased && false {`},
	}},
	{"slot-held-by-the-record", "a decision holds its slot while it waits for the disk", "./internal/decision/record", "TestAnswersWaitForTheirRecord", []edit{
		{"internal/decision/record/evaluate.go", `	decision.ReleaseSlot(ctx) //`, `	_ = decision.ReleaseSlot //`},
	}},
	{"slots-released-unbounded", "any number of calls goes on without a slot while the store hangs", "./internal/handlers/admit", "TestReleased", []edit{
		{"internal/handlers/admit/gate.go", `p.g.released < mostReleased {`, `true {`},
	}},
	{"unavailable-is-our-bug", "a store that is away is answered as a bug of ours, not to be tried again", "./internal/handlers/exchange", "TestStoreErrorsHaveTheirStatus", []edit{
		{"internal/handlers/exchange/errors.go", `case errors.Is(err, store.ErrUnavailable):`, `case errors.Is(err, store.ErrUnavailable) && false:`},
	}},
	{"ready-until-the-end", "a server that ends says that it is ready, so that calls still come", "./cmd/server", "TestNotReadyFirst", []edit{
		{"internal/handlers/api.go", `a.draining.Store(true)`, ``},
	}},
	{"shadow-reads-stale-names", "a shadow takes rows of a table of names for rows of the nodes that are there now", "./internal/handlers", "TestShadowReadsAhead", []edit{
		{"internal/handlers/extender/filter.go", ` || c.table.set != table.set {`, ` {`},
	}},

	{"admin-leaves-loopback", "the admin listener serves on any address", "./cmd/server", "TestAdminStaysOnLoopback", []edit{
		{"cmd/server/admin.go", `if err == nil && !local {`, `if err == nil && !local && false {`},
	}},
	{"admin-rebound", "a page in a browser reads profiles under a name of its own", "./cmd/server", "TestAdmin", []edit{
		{"internal/ops/admin/admin.go", `case !admit.LoopbackName(strings.Trim(name, "[]")):`, `case strings.Trim(name, "[]") == "":`},
	}},
	{"bundle-names-objects", "texts of log lines are in what is sent to others", "./internal/ops/admin", "TestHiddenLog", []edit{
		{"internal/ops/admin/log.go", `hidden && !slices.Contains(plainTexts, a.Key)`, `hidden && a.Key == ""`},
	}},
	{"bundle-names-clusters", "metrics name clusters in what is sent to others", "./internal/ops/admin", "TestHiddenMetrics", []edit{
		{"internal/ops/admin/names.go", `!slices.Contains(plainLabels, name) {`, `name == "" {`},
	}},
	{"errors-are-sampled", "errors are left out of the log, as other lines are", "./cmd/server", "TestLogSample", []edit{
		{"cmd/server/log_sample.go", `if r.Level >= slog.LevelError {`, `if r.Level > slog.LevelError {`},
	}},
	{"impatient-scheduler-is-well", "a kube-scheduler that gives up before berth answers is in order", "./internal/ops/doctor", "TestScheduler", []edit{
		{"internal/ops/doctor/scheduler.go", `case timeout <= deadline:`, `case timeout < 0:`},
	}},
	{"unverified-server-is-well", "a kube-scheduler that verifies no certificate is in order", "./internal/ops/doctor", "TestScheduler", []edit{
		{"internal/ops/doctor/scheduler.go", `x.EnableHTTPS && !ca:`, `false:`},
	}},

	{"apply-unbinds", "a bound pod's own manifest is refused as one that takes it off its node", "./internal/decision/admit", "TestApplyKeepsTheBind", []edit{
		{"internal/decision/admit/merge.go", `if v, ok := from[k]; ok && !given(to, k) {`, `if v, ok := from[k]; ok && !given(to, k) && k != "nodeName" {`},
	}},
	{"status-emptied", "a running pod is pending once its manifest is applied again", "./internal/decision/admit", "TestApplyKeepsTheBind", []edit{
		{"internal/decision/admit/merge.go", `if len(to) == 0 {`, `if len(to) == 0 && false {`},
	}},

	{"json-held-without-bound", "an object of a stream is held whatever its size", "./internal/jsonscan", "TestHeldBytes", []edit{
		{"internal/jsonscan/scanner.go", `if s.pos-s.held > s.maxHeld {`, `if s.pos-s.held > s.maxHeld && false {`},
	}},
	{"json-tokens-uncounted", "the tokens of a text are not counted", "./internal/jsonscan", "TestErrors", []edit{
		{"internal/jsonscan/scanner.go", `if s.Tokens += tokens; s.Tokens > s.maxTokens {`, `if s.Tokens += tokens; false {`},
	}},

	{"cli-no-is-yes", "berth ends with 0 where the answer is no", "./internal/cli", "TestGolden", []edit{
		{"internal/cli/run.go", `return exitNo`, `return exitYes`},
	}},
	{"cli-cuts-in-silence", "berth cuts cells of a table and does not say so", "./internal/cli", "TestFortyNodes", []edit{
		{"internal/cli/table.go", `if to != name {`, `if to != name && false {`},
	}},
	{"cli-breaks-tables", "a table of berth is wider than 80 columns", "./internal/cli", "TestNothingIsWider", []edit{
		{"internal/cli/table.go", "width := p.width\n", "width := p.width + 40\n"},
	}},
}
