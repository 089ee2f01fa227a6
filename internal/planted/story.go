package planted

// Faults of what is told about a pod.
const (
	// SuggestUntried offers changes that nobody tried.
	SuggestUntried Fault = "suggest-untried"
	// GroupTwice counts a node in the group of each of its reasons.
	GroupTwice Fault = "group-twice"
	// MergeUnlike puts decisions together that came out otherwise.
	MergeUnlike Fault = "merge-unlike"
)

func init() {
	All = append(All,
		Plant{SuggestUntried, "a change is offered that does not help", "./internal/engine/advice", "TestSuggestionsHold"},
		Plant{GroupTwice, "the groups' counts do not add up to the nodes", "./internal/engine/advice", "TestGroupsAddUp"},
		Plant{MergeUnlike, "a pod's story hides that the answer changed", "./internal/story", "TestAttemptsAreMergedWhereAlike"},
	)
}
