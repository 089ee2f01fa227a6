package rules

import (
	"cmp"
	"fmt"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// ReasonPorts is the reason of a node whose ports are taken.
const ReasonPorts = "node(s) didn't have free ports for the requested pod ports"

// NodePorts keeps pods off nodes on which a host port that they claim is taken
// (plugins/nodeports).
type NodePorts struct{}

var (
	_ engine.PreFilterer[[]state.Port] = NodePorts{}
	_ engine.Filterer[[]state.Port]    = NodePorts{}
	_ engine.Detailer[[]state.Port]    = NodePorts{}
	_ engine.Local                     = NodePorts{}
)

// nodePortsDescriptor is the rule's entry in the registry.
var nodePortsDescriptor = Descriptor{
	Plugin: "NodePorts", Phases: []string{phasePreFilter, phaseFilter},
	Needs:  filterNeeds,
	Judges: "Host ports that another pod on the node uses.",
	Code:   codeUnschedulable, Reasons: []string{ReasonPorts}, Upstream: "nodeports/node_ports.go",
	Details: []*engine.DetailKind{{Name: "port", Fields: "protocol, hostIP, port", Cause: portCause, Words: portWords, Named: " held by "}},
	build:   always[[]state.Port](NodePorts{}),
}

// Name is the plugin's name.
func (NodePorts) Name() string { return "NodePorts" }

// Locality returns OwnRow: a node's ports are taken by its own pods.
func (NodePorts) Locality(_ *engine.Query) engine.Locality { return engine.OwnRow }

// PreFilter skips pods without host ports.
func (NodePorts) PreFilter(q *engine.Query) ([]state.Port, engine.PreFilterResult) {
	ports := state.HostPorts(q.Pod)
	return ports, engine.PreFilterResult{Skip: len(ports) == 0}
}

// Filter reads where the conflicting ports are taken.
func (NodePorts) Filter(q *engine.Query, ports []state.Port, in state.Bits, rej *engine.Rejected) error {
	if ports == nil {
		ports = state.HostPorts(q.Pod)
	}
	taken := q.Bits()
	for _, p := range ports {
		for _, id := range q.State.PortConflicts(nil, p) {
			q.State.PortPostings(id).Each(func(row, _ int32) { taken.Set(int(row)) })
		}
	}
	taken.And(in)
	rej.Add(ReasonPorts, engine.Unschedulable, taken)
	return nil
}

// Details names the ports that are taken, as they are claimed on the node, in
// order of protocol, number and address.
func (NodePorts) Details(q *engine.Query, _ []state.Port, row int) []engine.Detail {
	var out []engine.Detail
	for _, p := range state.HostPorts(q.Pod) {
		for _, id := range q.State.PortConflicts(nil, p) {
			o := q.State.Port(id)
			d := engine.Detail{Kind: "port", Protocol: o.Protocol, HostIP: o.IP, Port: o.Number}
			if q.State.PortPostings(id).At(int32(row)) > 0 && !slices.ContainsFunc(out, func(o engine.Detail) bool {
				return o.Protocol == d.Protocol && o.HostIP == d.HostIP && o.Port == d.Port
			}) {
				out = append(out, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b engine.Detail) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), cmp.Compare(a.HostIP, b.HostIP))
	})
	return out
}

func portCause(d *engine.Detail) engine.Cause {
	return engine.Cause{Code: engine.CausePortTaken, About: fmt.Sprintf("%d/%s", d.Port, d.Protocol)}
}

func portWords(d *engine.Detail, _ engine.AmountsFunc) string {
	return fmt.Sprintf("%s %s:%d", d.Protocol, d.HostIP, d.Port)
}
