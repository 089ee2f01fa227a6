package planted

// Faults of what is told about a pod.
const (
	// SuggestUntried offers changes that nobody tried.
	SuggestUntried Fault = "suggest-untried"
	// TolerateTheDead offers to tolerate what is wrong with a node.
	TolerateTheDead Fault = "tolerate-the-dead"
	// GroupTwice counts a node in the group of each of its reasons.
	GroupTwice Fault = "group-twice"
	// MergeUnlike puts decisions together that came out otherwise.
	MergeUnlike Fault = "merge-unlike"
)

func init() {
	All = append(All,
		Plant{SuggestUntried, "a change is offered that does not help", "./internal/engine/advice", "TestSuggestionsHold"},
		Plant{TolerateTheDead, "a pod is sent to a node that does not answer", "./internal/engine/advice", "TestWhatIsWrongWithANodeIsNotTolerated"},
		Plant{GroupTwice, "the groups' counts do not add up to the nodes", "./internal/engine/advice", "TestGroupsAddUp"},
		Plant{MergeUnlike, "a pod's story hides that the answer changed", "./internal/story", "TestAttemptsAreMergedWhereAlike"},
	)
}
