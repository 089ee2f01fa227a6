// Package semantics has the releases of Kubernetes whose behaviour decisions can follow. A
// release is a value: named behaviours, each of which one place reads when a profile is built.
// Nothing outside of this package compares versions.
package semantics

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Release is how one release of Kubernetes decides. Each release has a file of its own, and a
// further one is a copy of the newest in which fields differ.
type Release struct {
	// Name is the release whose sources were read, such as v1.36.3. Records are stamped with it.
	Name string
	// Locked are the gates that the release has at one value.
	Locked []string
	// Fixed are further gates that decisions know at the release's defaults alone.
	Fixed []string
	// APIs are the versions of kinds whose versions are not the same in all releases, which its
	// API server has, by default or where they are turned on.
	APIs []API
	// Dropped are fields that it does not have, or whose gate is off by default, of kinds that
	// have them in other releases.
	Dropped []Field
	// Gates are at the defaults of the release, or of the version that it emulates, or as they
	// were set.
	Gates
	// Life is how its kubelets lead the life of a pod.
	Life
	// code is the release as its sources have it, and stamp names both; nil and empty: this one.
	code  *Release
	stamp string

	// Plugins are those that berth has, in the order of the default profile, which is without one
	// whose gate is off: the first failing one is named, and scores are listed in it
	// (pkg/scheduler/apis/config/v1/default_plugins.go getDefaultPlugins, applyFeatureGates).
	Plugins []string

	// Others are the plugins that have no part in a decision about one pod
	// (framework/plugins/registry.go NewInTreeRegistry, applyFeatureGates; A12, B22).
	Others []Other
	// Points are the extension points that a configuration may have plugins for
	// (kube-scheduler/config/v1 Plugins; A12, B22).
	Points []string
	// RatioOfItsType reports whether arguments of NodeResourcesFit may have
	// requestedToCapacityRatio only with the type of its name (apis/config/validation
	// ValidateNodeResourcesFitArgs; A12).
	RatioOfItsType bool
	// NoBindingTimeout reports whether arguments of DynamicResources are without bindingTimeout,
	// which then is an unknown field (kube-scheduler/config/v1 DynamicResourcesArgs; Z7).
	NoBindingTimeout bool

	// NodePreFilters reports whether NodeName, NodeUnschedulable and TaintToleration have a
	// PreFilter, of which NodeName's leaves only the node that the pod names (plugins/nodename
	// PreFilter; B2).
	NodePreFilters bool

	// Features are the features of nodes that a pod may need (component-helpers
	// nodedeclaredfeatures/features InferForScheduling; A4, B21).
	Features []string
	// FeaturesNamed reports whether a node's rejection names the one that it lacks
	// (plugins/nodedeclaredfeatures Filter; A4).
	FeaturesNamed bool

	// Balance is what the score of a balanced use compares (plugins/noderesources
	// balanced_allocation.go balancedResourceScorer; A1).
	Balance Balance
	// SumsOfWholePods reports whether requests, allocated and actual amounts of a pod that runs are
	// each summed up of the whole pod before the largest counts; otherwise the largest of each
	// container does (component-helpers/resource AggregateContainerRequests; B11).
	SumsOfWholePods bool
	// ImageVolumesScore reports whether the images of image volumes add to a node's score
	// (plugins/imagelocality sumImageScores; A2).
	ImageVolumesScore bool
	// ImageVolumesRaiseTop reports whether each of them raises the sum from which on a score is
	// the highest, as a container does (plugins/imagelocality calculatePriority; B6).
	ImageVolumesRaiseTop bool
	// PortworxDeclared reports whether volumes of the built-in Portworx plugin count only where the
	// CSINode lists it as moved to its driver (plugins/nodevolumelimits isCSIMigrationOn; A10).
	PortworxDeclared bool
	// EveryDriverRequired reports whether VolumeLimitScaling wants every CSI driver to be on a node
	// that gets its volumes, not only those that ask for it (plugins/nodevolumelimits
	// checkCSIDriverOnNode; A16).
	EveryDriverRequired bool
	// SilentAboutClaims reports whether the message of a pod that fits nowhere leaves out that
	// there is nothing to do about its claims: none to deallocate, or still not schedulable
	// (plugins/dynamicresources PostFilter; B7).
	SilentAboutClaims bool
	// ClaimNotOwned is the text about a claim that was made for another pod, with the namespaces
	// and names of both (dynamic-resource-allocation/resourceclaim IsForPod; A13).
	ClaimNotOwned string

	// ExclusionMeansAll reports whether a namespaceSelector of a pod's own term that only excludes
	// selects every namespace: it is matched with no labels, after it was resolved to names
	// (plugins/interpodaffinity mergeAffinityTermNamespacesIfNotEmpty; B3).
	ExclusionMeansAll bool
	// FirstViolatedOnly reports whether a victim takes nothing from the budgets behind the first
	// one that forbids its eviction (framework/preemption FilterVictimsWithPDBViolation; B9).
	FirstViolatedOnly bool
	// TellsPlacement reports whether the message of a pod that evicts others ends with the node and
	// the number of victims (framework/preemption Evaluator.Preempt; B8).
	TellsPlacement bool

	// GatedNominationsCount reports whether a pod that its gates hold back keeps room on the node
	// that it is nominated to (pkg/scheduler/backend/queue PriorityQueue.Add; B23).
	GatedNominationsCount bool

	// AffinityWakes is which changes of pods make one worth another try that InterPodAffinity
	// rejected (plugins/interpodaffinity isSchedulableAfterPodChange; H1, H2).
	AffinityWakes AffinityWakes
	// NominationsWake reports whether InterPodAffinity and PodTopologySpread look at pods that have
	// only a nominated node, too (plugins/podtopologyspread involvedInTopologySpreading; H1).
	NominationsWake bool
	// NewNodesMeanTaints reports whether a plugin that registers for new nodes alone hears of each
	// change of taints, too (pkg/scheduler/scheduler.go buildQueueingHintMap; H2).
	NewNodesMeanTaints bool
	// DeletedClaimsWake reports whether the deletion of an allocated claim makes pods worth another
	// try that DynamicResources rejected (plugins/dynamicresources EventsToRegister,
	// isSchedulableAfterClaimChange; H2).
	DeletedClaimsWake bool

	// ClaimsScoreInPlace reports whether the nth claim is scored by the nth allocation of the
	// cycle, so that a claim that was allocated before fails the pod (plugins/dynamicresources
	// computeScore; A3).
	ClaimsScoreInPlace bool
	// MixesAlternatives reports whether a request's alternative for all devices is taken for the
	// one before it (dynamic-resource-allocation/structured validateDeviceRequest, allocateOne;
	// A8).
	MixesAlternatives bool
	// SlowDevicesReject reports whether a search for devices that takes too long rejects the
	// node and not the pod (plugins/dynamicresources Filter; A9).
	SlowDevicesReject bool
	// LosesCounters reports whether a device that was tried in vain keeps what it consumes of
	// counters (dynamic-resource-allocation/structured allocateDevice; A14).
	LosesCounters bool
	// SharesRepeat reports whether a request for several devices may get shares of one device,
	// and counters leave out devices of which only shares are allocated
	// (dynamic-resource-allocation/structured allocateOne, checkAvailableCounters; A15).
	SharesRepeat bool
	// LastAllocationStands reports whether a claim that a pod names twice, and that is allocated
	// for each name, has the last of these allocations, not the first (plugins/dynamicresources
	// SignalClaimPendingAllocation; A17).
	LastAllocationStands bool
	// CountersByDriver reports whether pools of one name and different drivers have counters of
	// their own (dynamic-resource-allocation/structured checkAvailableCounters; B12).
	CountersByDriver bool
	// DistinctFromAll reports whether distinctAttribute compares a device with all others of the
	// claim, not only with the last of each request (dynamic-resource-allocation/structured
	// distinctAttributeConstraint; B13).
	DistinctFromAll bool
	// AllCountsFull reports whether a request for all devices also wants those whose capacity
	// is taken, and so fails (dynamic-resource-allocation/structured validateDeviceRequest;
	// B14).
	AllCountsFull bool
	// BadAmountsFail reports whether amounts of capacity that are negative or too large fail the
	// pod (dynamic-resource-allocation/structured CmpRequestOverCapacity; B15).
	BadAmountsFail bool
	// SharesUseCounters reports whether a device of which a share without amounts is allocated
	// has consumed its counters (dynamic-resource-allocation/structured deviceCapacityInUse;
	// B16).
	SharesUseCounters bool
	// CountersStayLocal reports whether slices with counters concern only the nodes that they
	// name (dynamic-resource-allocation/structured GatherPools; B17).
	CountersStayLocal bool
	// DeviceErrorsSayMore reports whether errors about devices name the device, the request and
	// how to guard an expression (dynamic-resource-allocation/structured Allocate,
	// selectorsMatch; B18).
	DeviceErrorsSayMore bool

	// ClaimsUnscored reports whether nodes get no score for which alternatives of requests they
	// satisfy (plugins/dynamicresources Score, apis/config/v1 applyDynamicResources; Z1).
	ClaimsUnscored bool
	// AlphaAllocator reports whether devices are found by the allocator for alpha gates, whatever
	// the gates, since the status of devices is one of its features
	// (dynamic-resource-allocation/structured NewAllocator; Z2).
	AlphaAllocator bool
	// DistinctByAddress reports whether distinctAttribute compares where values are kept, so that
	// any two devices differ (dynamic-resource-allocation/structured matchesAttribute; Z3).
	DistinctByAddress bool
	// InvalidPoolsFail reports whether a search that comes to an invalid pool fails the pod, not
	// only one without another result the node (dynamic-resource-allocation/structured allocateOne;
	// Z4).
	InvalidPoolsFail bool
	// PoolsByNode reports whether a pool is what the node reaches of it, also where that is not
	// all of it or of a generation that was replaced (dynamic-resource-allocation/structured
	// GatherPools; Z5).
	PoolsByNode bool
	// CountingSlicesGive reports whether slices with counters have devices to allocate while
	// DRAPartitionableDevices is off (dynamic-resource-allocation/structured GatherPools; Z6).
	CountingSlicesGive bool
	// TolerationsForgotten reports whether allocations are without the tolerations of their
	// requests (dynamic-resource-allocation/structured Allocate; Z8).
	TolerationsForgotten bool
	// GroupsAreHidden reports whether slices with compatibility groups are as if they were not
	// there, so that nothing comes of their pool (dynamic-resource-allocation/structured
	// GatherPools; B20).
	GroupsAreHidden bool
	// DerivedAttributesFail reports whether a request with attributes to be derived fails the pod
	// (dynamic-resource-allocation/structured validateDeviceRequest; B20).
	DerivedAttributesFail bool
	// SkippingNeedsFeature reports whether an allocated claim whose devices need not be prepared
	// keeps its pod off nodes that do not declare DRAOptionalNodeOperations
	// (plugins/dynamicresources Filter; B20).
	SkippingNeedsFeature bool

	// ListAttributes reports whether selectors of devices know attributes that are lists, whatever
	// the gate of the name: expressions that are stored are compiled as by the newest release
	// (dynamic-resource-allocation/cel newCompiler, getAttributeValue; B24).
	ListAttributes bool
}

// AffinityWakes is what the hint of InterPodAffinity compares.
type AffinityWakes uint8

// The values of AffinityWakes.
const (
	// WakesByOwn is by whether all of the waiting pod's terms of a kind select the changed pod.
	WakesByOwn AffinityWakes = iota + 1
	// WakesByBoth is also by new labels of the waiting pod, and by whether all terms of
	// anti-affinity of a pod that goes select the waiting one.
	WakesByBoth
	// WakesByAny is as WakesByBoth, but one term of anti-affinity is enough.
	WakesByAny
)

// Balance is what NodeResourcesBalancedAllocation scores.
type Balance uint8

// The values of Balance.
const (
	// BalanceAfter is how balanced the node's use is with the pod.
	BalanceAfter Balance = iota + 1
	// BalanceChange is by how much the pod improves it.
	BalanceChange
)

// API is a version of a kind.
type API struct {
	Kind, Version string
	// Deprecated reports whether it will go (zz_generated.prerelease-lifecycle.go).
	Deprecated bool
}

// Field is a field of a kind, by its path.
type Field struct{ Kind, Path string }

// Versions returns the versions that a release has of each kind whose versions change.
func (r *Release) Versions() map[string][]API {
	kinds := map[string][]API{}
	for _, other := range releases {
		for _, a := range other.APIs {
			kinds[a.Kind] = nil
		}
	}
	for _, a := range r.APIs {
		kinds[a.Kind] = append(kinds[a.Kind], a)
	}
	return kinds
}

// Other is a plugin that has no part in a decision about one pod.
type Other struct {
	Name   string
	Points []string // where it plays a part, as configurations have them
	// Gate puts it into the default profile; it is there in any case where that is empty.
	Gate string
}

// releases are the known ones, oldest first.
var releases = []*Release{v134, v135, v136, v137}

// but returns another release: this one, with the differences that change makes.
func (r *Release) but(change func(*Release)) *Release {
	other := *r
	change(&other)
	return &other
}

// ahead returns a list in which one name stands right before another.
func ahead(list []string, name, other string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
	return slices.Insert(list, slices.Index(list, other), name)
}

// Default returns the release that decides where none is named.
func Default() *Release { return v136 }

// Newest returns the newest release that is known.
func Newest() *Release { return releases[len(releases)-1] }

// unwritten is the release of profiles that name none, as all did that were stored before there
// was a choice.
var unwritten = v136

// Parse returns the release of a name: a minor one, such as v1.36, or a whole one, such as
// v1.36.3. Gates may follow it, after blanks or commas: v1.37 StorageCapacityScoring=false, or
// v1.37 emulated=v1.36.
func Parse(text string) (*Release, error) {
	name, gates := split(text)
	for _, r := range releases {
		if name == r.Name || name == r.Minor() {
			return r.withGates(gates)
		}
	}
	return nil, fmt.Errorf("unknown release %.64q; known: %s", name, Known())
}

// Names lists the releases, oldest first.
func Names() []string {
	list := make([]string, len(releases))
	for i, r := range releases {
		list[i] = r.Name
	}
	return list
}

// Known lists the releases in a text.
func Known() string { return strings.Join(Names(), ", ") }

// OfStamp returns the release that answers what a record was stamped with: the one of the same
// minor release, with its gates; nil where there is none.
func OfStamp(stamp string) *Release {
	name, gates := split(stamp)
	for _, r := range releases {
		if minor(name) == r.Minor() {
			set, err := r.withGates(gates)
			if err != nil {
				return nil
			}
			return set
		}
	}
	return nil
}

// split returns the name and the gates of a text.
func split(text string) (name string, gates []string) {
	list := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	if len(list) == 0 {
		return "", nil
	}
	return list[0], list[1:]
}

// Stamp is the release as records have it: its name, and the gates that are not at its defaults.
func (r *Release) Stamp() string { return cmp.Or(r.stamp, r.Name) }

// Asked is what Parse takes for the release: its minor one, and the gates.
func (r *Release) Asked() string { return r.Minor() + strings.TrimPrefix(r.Stamp(), r.Name) }

// OfProfile returns the release that a stored profile names; nil where there is none of the name.
func OfProfile(written string) *Release {
	if written == "" {
		return unwritten
	}
	return OfStamp(written)
}

// Written is how a stored profile names the release.
func (r *Release) Written() string {
	if s := r.Stamp(); s != unwritten.Name {
		return s
	}
	return ""
}

// Minor is the minor release, such as v1.36.
func (r *Release) Minor() string { return minor(r.Name) }

// Follows reports whether a version of Kubernetes is of the release's minor one.
func (r *Release) Follows(version string) bool { return minor(version) == r.Minor() }

// Before reports whether a version of Kubernetes is of a later minor release than this one.
func (r *Release) Before(version string) bool {
	own, err := strconv.Atoi(strings.TrimPrefix(r.Minor(), "v1."))
	other, no := strconv.Atoi(strings.TrimPrefix(minor(version), "v1."))
	return err == nil && no == nil && own < other
}

// minor returns the first two parts of a version.
func minor(version string) string {
	list := strings.SplitN(version, ".", 3)
	return strings.Join(list[:min(2, len(list))], ".")
}
