package rules

// Description is what docs/rules.md says of one plugin.
type Description struct {
	Plugin string
	// Phases are the extension points at which the default profile runs it.
	Phases []string
	// Weight is its weight in the default profile, 0 where it scores nobody.
	Weight int64
	// Judges says in a sentence what it judges.
	Judges string
	// Code says with which code it rejects a node, and when; empty where it
	// rejects none.
	Code string
	// Reasons are its reasons, word for word; a trailing blank stands before the
	// name of a resource.
	Reasons []string
	// Upstream is where the behaviour comes from, below pkg/scheduler/framework/plugins.
	Upstream string
	// Differs says what berth does otherwise and why; empty where nothing is.
	Differs string
}

const (
	preemptable = "Unschedulable"
	forGood     = "UnschedulableAndUnresolvable"
)

// described is the part of the descriptions that the registry cannot know.
var described = map[string]Description{
	"SchedulingGates": {
		Judges:   "A pod with scheduling gates is not considered at all; the outcome is `Gated` and the gates are listed.",
		Upstream: "schedulinggates/scheduling_gates.go",
	},
	"NodeUnschedulable": {
		Judges: "Cordoned nodes, unless the pod tolerates `node.kubernetes.io/unschedulable:NoSchedule`.",
		Code:   forGood, Reasons: []string{ReasonUnschedulable}, Upstream: "nodeunschedulable/node_unschedulable.go",
	},
	"NodeName": {
		Judges: "Every node but the one in `spec.nodeName`, where that is set.",
		Code:   forGood, Reasons: []string{ReasonNodeName}, Upstream: "nodename/node_name.go",
	},
	"TaintToleration": {
		Judges: "NoSchedule and NoExecute taints that the pod does not tolerate; the score prefers nodes with fewer untolerated PreferNoSchedule taints.",
		Code:   forGood, Reasons: []string{ReasonTaint}, Upstream: "tainttoleration/taint_toleration.go",
	},
	"NodeAffinity": {
		Judges: "`nodeSelector`, required node affinity and the profile's `addedAffinity`; the score adds up the weights of preferred terms.",
		Code:   forGood, Reasons: []string{ReasonAffinity, ReasonEnforcedAffinity, ReasonAffinityConflict}, Upstream: "nodeaffinity/node_affinity.go",
	},
	"NodePorts": {
		Judges: "Host ports that another pod on the node holds.",
		Code:   preemptable, Reasons: []string{ReasonPorts}, Upstream: "nodeports/node_ports.go",
	},
	"NodeResourcesFit": {
		Judges: "Requests against what is left of the node's allocatable resources, and its number of pods; the score follows the profile's strategy (LeastAllocated, MostAllocated or RequestedToCapacityRatio).",
		Code:   preemptable + "; " + forGood + " where one request alone exceeds what the node has in all",
		Reasons: []string{
			ReasonTooManyPods, ReasonInsufficient,
		},
		Upstream: "noderesources/fit.go, resource_allocation.go",
		Differs:  "Several extended resources that fall short are named in order of their names; upstream's order is that of a Go map.",
	},
	"VolumeRestrictions": {
		Judges: "Disks given in the pod that another pod on the node mounts in a way that does not bear it (GCE PD, iSCSI and RBD unless both are read-only, EBS at all), and claims with the access mode ReadWriteOncePod that another pod uses, on whichever node. A pod whose claim is not there is rejected before any node is looked at.",
		Code:   preemptable + "; " + forGood + " for a claim that is not there",
		Reasons: []string{
			ReasonDiskConflict, ReasonClaimInUse,
		},
		Upstream: "volumerestrictions/volume_restrictions.go",
	},
	"NodeVolumeLimits": {
		Judges: "How many volumes of a CSI driver a node can attach, as its CSINode says: those of the pod, of the pods on the node and of VolumeAttachments, each once. Claims without a volume count by the provisioner of their class; volumes of built-in plugins that moved to a CSI driver count as that driver's. A node without a CSINode, or without a limit for the driver, takes any number.",
		Code:   preemptable + "; " + forGood + " for a claim that is not there", Reasons: []string{ReasonVolumeLimit}, Upstream: "nodevolumelimits/csi.go",
	},
	"VolumeBinding": {
		Judges: "Whether the pod's claims are bound, or can be, to volumes that the node reaches. Bound claims: the volume's node affinity; a volume of a kind that moved to a CSI driver is seen as that driver sees it, on nodes whose CSINode says so. " +
			"Claims that wait for their pod (`WaitForFirstConsumer`): a volume that is reserved for the claim, else the smallest that fits in class, size, mode, access, attributes and labels and that no other claim of the pod takes; where there is none, a new one, if the class has a provisioner, " +
			"allows the node's topology and, with a CSI driver that reports capacity, has room there. A pod is rejected before any node is looked at when a claim is missing, lost (`persistentvolumeclaim \"x\" bound to non-existent persistentvolume \"y\"`), being deleted, not the pod's own although made for it " +
			"(`PVC ns/x was not created for pod ns/p (pod is not owner)`), still to be made (`waiting for ephemeral volume controller to create the persistentvolumeclaim \"x\"`), or neither bound nor waiting. A decision lists in `volumes` what waiting claims get on the chosen node.",
		Code: forGood, Reasons: []string{ReasonVolumeAffinity, ReasonVolumeNoMatch, ReasonVolumeNoSpace, ReasonVolumeGone, ReasonClaimsUnbound}, Upstream: "volumebinding/volume_binding.go, binder.go",
		Differs: "Of volumes that are equally small, or reserved for the same claim, the first by name is taken; upstream takes the first of a Go map. A volume that cannot be translated for its CSI driver is an error, as upstream, but for Azure disks that are not managed, which are judged as they are. " +
			"It has no line among the scores, like upstream while StorageCapacityScoring is off.",
	},
	"VolumeZone": {
		Judges: "Zone and region labels of volumes that the pod's claims are bound to, `topology.kubernetes.io/…` and `failure-domain.beta.kubernetes.io/…`, against the node's; a label may list several zones (`a__b`), and one that does not parse says nothing. A node without any of these labels takes every volume. " +
			"A pod is rejected before any node is looked at when a claim, its volume or its class is missing, or when a claim without a volume does not wait for the pod.",
		Code: forGood, Reasons: []string{ReasonVolumeZone, ReasonClaimNameless, ReasonClaimClassless, ReasonVolumeNameless}, Upstream: "volumezone/volume_zone.go",
	},
	"PodTopologySpread": {
		Judges: "Topology spread constraints: DoNotSchedule ones reject, ScheduleAnyway ones score domains with fewer matching pods higher. Default constraints apply to pods that have none and belong to a Service or a controller.",
		Code:   preemptable + " for too much skew; " + forGood + " for a node without the topology key", Reasons: []string{ReasonSpread, ReasonSpreadNoLabel},
		Upstream: "podtopologyspread/filtering.go, scoring.go",
	},
	"InterPodAffinity": {
		Judges: "The pod's required affinity, then its anti-affinity, then the anti-affinity of pods that are there; the score adds up preferred terms both ways.",
		Code:   forGood + " for affinity; " + preemptable + " for both kinds of anti-affinity", Reasons: []string{ReasonPodAffinity, ReasonPodAntiAffinity, ReasonExistingAntiAffinity},
		Upstream: "interpodaffinity/filtering.go, scoring.go",
	},
	"DynamicResources": {
		Judges: "Resource claims, and extended resources behind which a device class stands. A pod waits until its claims exist. A claim that is allocated must be so for the node; for the others devices must be found there, all together: by class and CEL selectors, counts or all of them, alternatives, constraints, taints, counters and capacities. The score prefers nodes that give a choice its early alternatives.",
		Code:   forGood, Reasons: []string{ReasonNoDevices, ReasonClaimElsewhere, ReasonStaleExtended, ReasonNoResource, ReasonInvalidPools},
		Upstream: "dynamicresources/dynamicresources.go, extendeddynamicresources.go, k8s.io/dynamic-resource-allocation/structured",
		Differs: "There is no `filterTimeout`, since the engine has no clock: a search ends after looking at five million devices on a node, or ten million in all, instead, and the decision fails then, as upstream's cycle does at its timeout. " +
			"A decision writes nothing and names the devices, which count as taken once a claim's status says so, as a ledger's bind has it; where upstream takes an allocation back or deletes a claim, berth only says so. " +
			"Of several classes behind one extended resource the newest is taken whatever the order in which they came, which upstream leaves to chance. " +
			"Shared counters go by the pool's name alone, as upstream's do: of pools of several drivers that share a name, those of the first that a device is tried of count for all. Here that is settled on each node by itself; " +
			"upstream settles it once for all nodes, so that for pools that several nodes reach it may depend on which node was asked first.",
	},
	"DefaultPreemption": {
		Judges: "Which pods of lower priority would have to go for a pod that fits nowhere, and from which node. On each node that they might help with, all of them leave and as many as possible come back: those first whose eviction a PodDisruptionBudget forbids, the important before the others. " +
			"Of the nodes that has the fewest such violations wins, then the lowest priority at the top, the lowest sum of priorities, the fewest pods, the latest start.",
		Upstream: "defaultpreemption/default_preemption.go, ../preemption/preemption.go",
		Differs:  "All nodes that evicting pods might help are tried, not a tenth of them or a hundred, whatever its arguments say. Pods without a start time count as started at the decision's time, and what upstream leaves to chance is settled: pods of one priority and start by namespace and name, nodes that all rounds leave equal by a stable hash of pod UID and node name.",
	},
	"NodeResourcesBalancedAllocation": {
		Judges:   "Whether the pod brings the use of the node's resources into balance; 75 stands for no difference. It is left out for pods that ask for none of them.",
		Upstream: "noderesources/balanced_allocation.go",
	},
	"ImageLocality": {
		Judges: "How much of the pod's images the node holds already, scaled by how many nodes hold them.", Upstream: "imagelocality/image_locality.go",
	},
	"NodeDeclaredFeatures": {
		Judges: "Features that the pod needs, inferred by Kubernetes' own library, against `status.declaredFeatures`.",
		Code:   forGood, Reasons: []string{ReasonFeatures}, Upstream: "nodedeclaredfeatures/nodedeclaredfeatures.go",
	},
}

// Describe gives the plugins in the registry's order, which is the order in
// which a node's first failing plugin is named.
func Describe() []Description {
	out := make([]Description, 0, len(registry))
	for _, p := range registry {
		d := described[p.name]
		d.Plugin, d.Weight = p.name, 0
		for _, phase := range []struct {
			on   bool
			name string
		}{
			{p.preEnqueue, "PreEnqueue"}, {p.preFilter, "PreFilter"}, {p.filter, "Filter"}, {p.postFilter, "PostFilter"}, {p.scoring, "Score"},
		} {
			if phase.on {
				d.Phases = append(d.Phases, phase.name)
			}
		}
		if p.scoring {
			d.Weight = max(p.weight, 1)
		}
		out = append(out, d)
	}
	return out
}
