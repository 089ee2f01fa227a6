package planted

// Faults of what is recorded.
const (
	TruncateMessage Fault = "truncate-message"
	MaskForgotten   Fault = "mask-forgotten"
	ShortDigest     Fault = "short-digest"
	StampMixedUp    Fault = "stamp-mixed-up"
	SuffixLost      Fault = "suffix-lost"
	LongKey         Fault = "long-key"
)

func init() {
	All = append(All,
		Plant{TruncateMessage, "a record's message is cut after 64 bytes", "./internal/audit", "TestDocumentedQueries"},
		Plant{MaskForgotten, "one annotation that nothing reads is kept", "./internal/audit", "TestNothingElseIsStored"},
		Plant{ShortDigest, "a digest's column lacks its last byte", "./internal/store/sqlite", "TestMigrationsKeepData"},
		Plant{StampMixedUp, "decisions of two profiles share a stamp", "./internal/store/postgres", "TestMigrationsKeepData"},
		Plant{SuffixLost, "the end that rejected nodes' names share is not written", "./internal/store/sqlite", "TestStore"},
		Plant{LongKey, "a name too long for an index is let through to the database", "./internal/store/postgres", "TestStore"},
	)
}
