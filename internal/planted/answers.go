package planted

// Faults of answers and of the record behind them.
const (
	AnswerBeforeRecord  Fault = "answer-before-record"
	CursorByID          Fault = "cursor-by-id"
	BodyBeforeAdmission Fault = "body-before-admission"
	GateQueueUnbounded  Fault = "gate-queue-unbounded"
	UnavailableIsOurBug Fault = "unavailable-is-our-bug"
	ReadyUntilTheEnd    Fault = "ready-until-the-end"
)

func init() {
	All = append(All,
		Plant{AnswerBeforeRecord, "an answer goes out while its record is still on the way", "./internal/audit", "TestAnswersWaitForTheirRecord"},
		Plant{CursorByID, "a list goes on by id alone, though ids do not come in order of time", "./internal/store/sqlite", "TestStore"},
		Plant{BodyBeforeAdmission, "a body is read before it is its turn", "./internal/handlers", "TestRefusedBeforeTheBodyIsRead"},
		Plant{GateQueueUnbounded, "any number of calls may wait for their turn", "./internal/handlers", "TestOverloadIsRefusedFast"},
		Plant{UnavailableIsOurBug, "a store that is away is answered as a bug of ours, not to be tried again", "./internal/handlers", "TestStoreErrorsHaveTheirStatus"},
		Plant{ReadyUntilTheEnd, "a server that ends says that it is ready, so that calls still come", "./cmd/server", "TestNotReadyFirst"},
	)
}
