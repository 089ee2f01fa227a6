package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
	"berth/internal/engine/devices"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// The reasons of DynamicResources for a node.
const (
	ReasonNoDevices      = "cannot allocate all claims"
	ReasonClaimElsewhere = "resourceclaim not available on the node"
	ReasonStaleExtended  = "cannot schedule extended resource claim"
	ReasonNoResource     = "cannot fit resource"
	ReasonInvalidPools   = "invalid resource pools were encountered"
)

// reasonSlowDevices is one more, of v1.35.
const reasonSlowDevices = "timed out trying to allocate devices"

// DynamicResources rejects nodes on which the pod's claims are not and cannot be allocated. It
// prefers nodes that satisfy earlier alternatives of firstAvailable requests
// (plugins/dynamicresources).
type DynamicResources struct {
	bindingTimeout time.Duration
	expressions    *devices.Expressions
	silent         bool   // says nothing about claims that it does nothing about
	notOwned       string // the text about a claim of another pod
	as             devices.Behaviour
	skipping       bool // claims that skip operations need nodes that declare it
	lastStands     bool // of two allocations of a claim the last one stands
	taintRules     bool // DeviceTaintRules taint devices
	deletionWakes  bool // of an allocated claim
	extended       bool // extended resources may come from devices
	conditions     bool // devices have to become ready before a pod is bound
	inPlace        bool // scores the nth claim by the nth allocation
	slowReject     bool // rejects a node on which a search takes too long
}

var (
	_ engine.PreEnqueuer                = (*DynamicResources)(nil)
	_ engine.PreFilterer[*deviceState]  = (*DynamicResources)(nil)
	_ engine.Filterer[*deviceState]     = (*DynamicResources)(nil)
	_ engine.PostFilterer[*deviceState] = (*DynamicResources)(nil)
	_ engine.Scorer[*deviceState]       = (*DynamicResources)(nil)
	_ engine.Allotter[*deviceState]     = (*DynamicResources)(nil)
	_ engine.PreBinder[*deviceState]    = (*DynamicResources)(nil)
	_ engine.Detailer[*deviceState]     = (*DynamicResources)(nil)
	_ engine.Local                      = (*DynamicResources)(nil)
)

// dynamicResourcesDescriptor is the rule's entry in the registry.
var dynamicResourcesDescriptor = Descriptor{
	Plugin: "DynamicResources", Phases: []string{phasePreEnqueue, phasePreFilter, phaseFilter, phasePostFilter, phaseScore}, Weight: 2,
	Also: []string{phaseReserve, phasePreBind, phaseGroupPost}, Needs: map[string]string{phaseFilter: phasePreFilter, phaseScore: phasePreFilter},
	Judges: "Resource claims, and extended resources that a device class provides. A pod waits until its claims exist. " +
		"An allocated claim must be usable on the node. " +
		"For the others devices must be found there, all together: by class and CEL selectors, counts or all devices, alternatives, constraints, taints, counters and capacities. " +
		"The score prefers nodes that satisfy early alternatives.",
	Code: codeUnresolvable, Reasons: []string{ReasonNoDevices, ReasonClaimElsewhere, ReasonStaleExtended, ReasonNoResource, ReasonInvalidPools},
	Upstream: "dynamicresources/dynamicresources.go, extendeddynamicresources.go, k8s.io/dynamic-resource-allocation/structured",
	Differs: "There is no `filterTimeout`, since the engine has no clock. " +
		"A search ends after five million devices on a node, or ten million in all, and the decision fails then, as upstream's cycle does at its timeout. " +
		"A decision writes nothing. It names the devices, which count as taken once a claim's status lists them, as after a ledger's bind. " +
		"Where upstream deallocates or deletes a claim, berth only reports it. " +
		"Of several classes that provide one extended resource berth takes the newest; upstream's choice depends on the order in which they came. " +
		"Shared counters are kept by the pool's name alone, as upstream keeps them: of pools of several drivers with one name, those of the pool from which a device is tried first count for all. berth determines that on each node by itself. " +
		"Upstream determines it once for all nodes, so that for pools that several nodes reach it may depend on which node came first.",
	Args: codecOf(nil, readDynamicResourcesArgs),
	Details: []*engine.DetailKind{
		{Name: "device", Fields: "claim, request, name of the class, requested, matching on the node, available of these", Cause: deviceCause, Words: deviceWords, Named: "; held by "},
		{
			Name: "devicePool", Fields: "name of the pool, term: what is wrong with it",
			Cause: func(d *engine.Detail) engine.Cause {
				return engine.Cause{Code: engine.CauseDeviceUnavailable, About: d.Name}
			},
			Words: func(d *engine.Detail, _ engine.AmountsFunc) string { return "pool " + d.Name + ": " + d.Term },
		},
		ofClaim("resourceClaim", "claim, term: what keeps it from the node", engine.CauseDeviceClaimNotReady,
			func(d *engine.Detail) string { return d.Term }),
	},
	in: func(d *Descriptor, r *semantics.Release) {
		if r.ClaimsUnscored {
			d.Phases = slices.DeleteFunc(slices.Clone(d.Phases), func(p string) bool { return p == phaseScore })
			d.Weight = 0
		}
	},
	build: func(a *Args, r *semantics.Release) (*engine.Plugin, error) {
		d := newDynamicResources(a.DynamicResources, r)
		d.silent, d.notOwned = r.SilentAboutClaims, r.ClaimNotOwned
		d.as, d.extended, d.conditions = devices.Under(r), r.DRAExtendedResource, r.DRADeviceBindingConditions
		d.taintRules, d.skipping = r.DRADeviceTaintRules, r.SkippingNeedsFeature
		d.deletionWakes = r.DeletedClaimsWake
		d.lastStands = r.LastAllocationStands
		d.inPlace, d.slowReject = r.ClaimsScoreInPlace, r.SlowDevicesReject
		p := engine.Adapt[*deviceState](d)
		if r.ClaimsUnscored {
			p.Score = nil
		}
		return p, nil
	},
}

// Name is the plugin's name.
func (*DynamicResources) Name() string { return "DynamicResources" }

// Locality returns NodesOnly for pods without claims. For others any claim in the cluster may
// change the answer.
func (d *DynamicResources) Locality(q *engine.Query) engine.Locality {
	if len(q.Pod.Spec.ResourceClaims) == 0 && len(d.deviceResources(q)) == 0 {
		return engine.NodesOnly
	}
	return engine.Anywhere
}

// PreEnqueue holds back a pod whose claims do not exist yet.
func (d *DynamicResources) PreEnqueue(q *engine.Query) string {
	if len(q.Pod.Spec.ResourceClaims) == 0 {
		return ""
	}
	_, why := d.claimsOf(q.State, q.Pod)
	return why
}

// PreFilter finds the pod's claims and checks what does not depend on the node.
func (d *DynamicResources) PreFilter(q *engine.Query) (*deviceState, engine.PreFilterResult) {
	var claims []*resourcev1.ResourceClaim
	if len(q.Pod.Spec.ResourceClaims) > 0 {
		var why string
		if claims, why = d.claimsOf(q.State, q.Pod); why != "" {
			return nil, engine.PreFilterResult{Code: engine.UnschedulableAndUnresolvable, Reason: why}
		}
	}
	extended := d.deviceResources(q)
	if len(claims)+len(extended) == 0 {
		return nil, engine.PreFilterResult{Skip: true}
	}
	s := &deviceState{rule: d, claims: claims, special: -1, budget: devices.Budget, rows: map[int]*deviceVerdict{}}
	if len(extended) > 0 {
		s.special = len(claims)
		s.claims = append(claims[:len(claims):len(claims)], extendedClaim(q))
		s.resources = scalarResources(q)
	}
	for i, c := range s.claims {
		if a := c.Status.Allocation; a != nil {
			if a.NodeSelector == nil {
				continue
			}
			rows, err := selectedBy(q.Nodes, a.NodeSelector)
			if err != nil {
				return nil, engine.PreFilterResult{Code: engine.Error, Reason: err.Error()}
			}
			if s.selected == nil {
				s.selected = make([]state.Bits, len(s.claims))
			}
			s.selected[i] = rows
			continue
		}
		s.allocate = true
		if i == s.special {
			continue
		}
		if code, why := classesExist(q, c); code != engine.Success {
			return nil, engine.PreFilterResult{Code: code, Reason: why}
		}
	}
	s.inventory, _ = q.State.DeviceMemo(d.as, func() any { return devices.NewInventory(q.State, d.as) }).(*devices.Inventory)
	return s, engine.PreFilterResult{}
}

// classesExist checks that the device classes of all requests exist.
func classesExist(q *engine.Query, c *resourcev1.ResourceClaim) (engine.Code, string) {
	check := func(class, request string) (engine.Code, string) {
		switch {
		case class == "":
			return engine.Error, fmt.Sprintf("request %s: unsupported request type", request)
		case q.State.DeviceClass(class) == nil:
			return engine.UnschedulableAndUnresolvable, fmt.Sprintf("request %s: device class %s does not exist", request, class)
		}
		return engine.Success, ""
	}
	for i := range c.Spec.Devices.Requests {
		r := &c.Spec.Devices.Requests[i]
		switch {
		case r.Exactly != nil:
			if code, why := check(r.Exactly.DeviceClassName, r.Name); code != engine.Success {
				return code, why
			}
		case len(r.FirstAvailable) > 0:
			for k := range r.FirstAvailable {
				if code, why := check(r.FirstAvailable[k].DeviceClassName, r.Name+"/"+r.FirstAvailable[k].Name); code != engine.Success {
					return code, why
				}
			}
		default:
			return engine.UnschedulableAndUnresolvable, fmt.Sprintf("resource claim %s/%s, request %s: unknown request type", c.Namespace, c.Name, r.Name)
		}
	}
	return engine.Success, ""
}

// Filter allocates devices node by node. A claim that cannot be judged ends the decision, as it
// ends upstream's cycle: a selector fails, or a request wants all devices of a pool that is being
// updated. Of several such nodes the first by name is reported.
func (d *DynamicResources) Filter(q *engine.Query, s *deviceState, in state.Bits, rej *engine.Rejected) error {
	if s == nil {
		return nil
	}
	by := map[string]state.Bits{}
	var order []string
	for _, r := range q.Nodes.Order() {
		row := int(r)
		if !in.Has(row) {
			continue
		}
		v := s.on(q, row)
		switch {
		case errors.Is(v.err, devices.ErrGaveUp):
			return fmt.Errorf("node %s: %w", q.Nodes.Node(row).Name, v.err)
		case v.err != nil:
			return v.err
		case v.reason == "":
			continue
		}
		if by[v.reason] == nil {
			by[v.reason] = q.Bits()
			order = append(order, v.reason)
		}
		by[v.reason].Set(row)
	}
	for _, reason := range order {
		rej.Add(reason, engine.UnschedulableAndUnresolvable, by[reason])
	}
	return nil
}

// PostFilter describes what kube-scheduler does about claims that are allocated where the pod
// cannot run. It deallocates one that no other pod uses, or deletes a claim for extended resources
// that an earlier attempt left behind. berth reports it and changes nothing.
func (d *DynamicResources) PostFilter(r *engine.Result, s *deviceState) engine.PostFilterResult {
	return engine.PostFilterResult{Text: func() string {
		text, done := s.deallocation(r.Query, r.RejectedByRule(d.Name()))
		if !done && d.silent {
			return ""
		}
		return text
	}}
}

// deallocation is the text of PostFilter, and whether a claim would be changed; rej are the rule's
// own rejections.
func (s *deviceState) deallocation(q *engine.Query, rej *engine.Rejected) (text string, done bool) {
	if s == nil {
		return "no new claims to deallocate", false
	}
	if rej != nil {
		for _, reason := range rej.Reasons {
			if reason.Text == ReasonClaimElsewhere && s.releasable(q, reason.Nodes) {
				return "deallocation of ResourceClaim completed", true
			}
		}
	}
	if s.special >= 0 && s.claims[s.special].Name != extendedClaimName {
		return "deletion of ResourceClaim completed", true
	}
	return "still not schedulable", false
}

// Score adds up, over the requests with alternatives, how early in its list the alternative stands
// that the node satisfies (plugins/dynamicresources computeScore).
func (d *DynamicResources) Score(q *engine.Query, s *deviceState, feasible state.Bits, out *engine.Scores) error {
	if s == nil || !s.allocate {
		out.Uniform(0, 0)
		return nil
	}
	var err error
	for row := range feasible.All() {
		v := s.on(q, row)
		err = cmp.Or(err, v.err)
		if d.inPlace && v.given != nil && len(v.given) < len(s.claims) {
			err = cmp.Or(err, fmt.Errorf("number of allocations %d is smaller than number of claims", len(v.given)))
			continue
		}
		out.Raw[row] = s.score(v)
	}
	if err != nil {
		return err
	}
	engine.NormalizeByMax(feasible, out, false)
	return nil
}

func (s *deviceState) score(v *deviceVerdict) int64 {
	if v.given == nil {
		return 0
	}
	total, next := int64(0), 0
	for _, c := range s.claims {
		chosen := map[string]bool{}
		if a := c.Status.Allocation; a != nil {
			for i := range a.Devices.Results {
				chosen[a.Devices.Results[i].Request] = true
			}
		} else {
			for _, g := range v.given[next].Devices {
				chosen[g.Request] = true
			}
			next++
		}
		for i := range c.Spec.Devices.Requests {
			r := &c.Spec.Devices.Requests[i]
			if r.Exactly != nil {
				continue
			}
			for k := range r.FirstAvailable {
				if ref := r.Name + "/" + r.FirstAvailable[k].Name; chosen[ref] && strings.Count(ref, "/") == 1 {
					total += int64(resourcev1.FirstAvailableDeviceRequestMaxSize - k)
				}
			}
		}
	}
	return total
}
