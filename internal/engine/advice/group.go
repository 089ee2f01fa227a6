package advice

// Group is nodes that the same verdict keeps the pod off. A node is in one group
// only, that of its first failing rule and of the first reason of that, so that
// groups add up to the nodes that were rejected.
type Group struct {
	// Rule is the first failing plugin, as kube-scheduler orders them.
	Rule string `json:"rule" example:"NodeResourcesFit"`
	// Reason is a stable code, such as InsufficientCPU or UntoleratedTaint.
	Reason string `json:"reason" example:"InsufficientCPU"`
	// Message is kube-scheduler's sentence.
	Message string `json:"message" example:"Insufficient cpu"`
	// Detail says what it is about: the taint, the selector, the domain, how much
	// is short.
	Detail string `json:"detail,omitempty"`
	Action Action `json:"action" enums:"wait,changePod,askPlatform"`
	Nodes  int    `json:"nodes"`
	// Short is how much the nodes of the group lack; absent for what has no amount.
	Short *Short `json:"short,omitempty"`
	// Sample is the first few of the nodes, by name.
	Sample []string `json:"sample"`
	// Also counts further reasons that the same rule has against nodes of the group.
	Also []Also `json:"also,omitempty"`
	// Merged is how many groups of few nodes each this one stands for; absent: one.
	Merged int `json:"merged,omitempty"`
}

// Short is a distribution of what nodes lack. The median is the lower one.
type Short struct {
	Of     string `json:"of" example:"cpu"` // a resource's name, or skew
	Unit   string `json:"unit" enums:"millicores,bytes,pods,count,skew" example:"millicores"`
	Min    int64  `json:"min"`
	Median int64  `json:"median"`
	Max    int64  `json:"max"`
}

// Also is a further reason against some nodes of a group.
type Also struct {
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Nodes  int    `json:"nodes"`
	Short  *Short `json:"short,omitempty"`
}
