package wire

// Limits bounds what a body may hold. A zero field sets no bound (Depth then is 10,000). Exceeding
// one returns a *LimitError that names it.
type Limits struct {
	// Bytes bounds the body's length.
	Bytes int
	// Depth bounds the nesting of objects and arrays; the outermost object is depth 1.
	Depth int
	// Tokens bounds the number of keys and values; an object or array is one value more than what
	// is in it.
	Tokens int
	// Names bounds NodeNames.
	Names int
	// Nodes bounds the items of Nodes, and the nodes of a preemption.
	Nodes int
	// VictimsPerNode bounds the victims of one node, Victims those of all nodes of a preemption.
	VictimsPerNode int
	Victims        int
}

// BindLimits are the bounds /bind starts with.
func BindLimits() Limits { return Limits{Bytes: 16 << 10, Depth: 8, Tokens: 100} }
