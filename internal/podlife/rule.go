package podlife

// Rule describes which rule made a statement about a pod. Every statement that this
// package makes about a pod's life carries one.
type Rule struct {
	// ID is stable and has the form "subject/what-applied", such as
	// "phase/init-failed". Clients may compare it; it never changes its
	// meaning.
	ID string `json:"id" example:"phase/waiting"`
	// Text is one sentence that names the reason the rule applied here, with the names
	// and numbers that made it apply. It is for people and may be worded better.
	Text string `json:"text" example:"Container web has never run and waits, so the pod is Pending."`
} // @name Rule
