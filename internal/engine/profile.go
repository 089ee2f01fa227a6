package engine

// Profile is a scheduler's configuration, ready for decisions. Rules holds every rule in use. The
// phases refer to it by index, in the order in which they run.
type Profile struct {
	Name    string // the schedulerName of its pods
	Digest  string // sha256:… over Payload
	Payload []byte // the configuration in canonical form, for the record
	// Siblings are the names of all profiles of the configuration.
	Siblings []string
	// Ungated are those of them without SchedulingGates, whose pods wait for no gates.
	Ungated []string
	Rules   []*Plugin
	// PreEnqueue are the rules of that phase that hold pods back, beside the gates.
	PreEnqueue []int
	PreFilter  []int
	Filter     []int
	Score      []WeightedRule
	// Gates reports whether pods with scheduling gates wait (SchedulingGates).
	Gates bool
	// Preemption reports whether DefaultPreemption is enabled. PostFilter names the plugins of that
	// phase in order, since each adds to the message.
	Preemption bool
	PostFilter []string
}

// WeightedRule is a scoring rule with its weight.
type WeightedRule struct {
	Rule   int
	Weight int64
}

// ruleNamed finds a rule's index; -1 without.
func (p *Profile) ruleNamed(name string) int {
	for i, r := range p.Rules {
		if r.Name == name {
			return i
		}
	}
	return -1
}
