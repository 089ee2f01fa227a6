package doctor

import "berth/internal/words"

// filesBeside is how many files a server may need beside its callers' connections: of the store,
// the spool, the database and the apiservers.
const filesBeside = 200

// Files compares the files that the process may open with the connections that its listeners take.
func Files(listeners, connections int) []Finding {
	limit, known := openFiles()
	return filesIn(limit, known, listeners, connections)
}

func filesIn(limit uint64, known bool, listeners, connections int) []Finding {
	r := &Report{Check: "files"}
	if need := uint64(max(listeners, 1)*max(connections, 0) + filesBeside); known && limit < need {
		r.Warn("Raise the limit (LimitNOFILE of systemd, ulimit -n), or lower --max-connections.",
			"the process may have %d files open, and --max-connections %d on %s needs %d: new callers would wait without an answer", limit, connections, words.Plural(listeners, "listener"), need)
	}
	return r.Findings
}
