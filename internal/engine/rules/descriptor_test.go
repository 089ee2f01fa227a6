package rules

import (
	"slices"
	"strings"
	"testing"

	"berth/internal/semantics"
)

// TestDescriptorsFitTheirRules: a rule takes part in the phases that its descriptor names and in no
// other. A method with another PreFilter state than the descriptor's is no part of the rule.
func TestDescriptorsFitTheirRules(t *testing.T) {
	for _, r := range releases(t) {
		without := map[string]string{ // what upstream has and there is nothing to do for
			"NodeResourcesFit":  phasePreFilter, // the request is worked out for every decision
			"NodeUnschedulable": phasePreFilter, // it only skips pods that wait for a resize, with a gate
			"TaintToleration":   phasePreFilter,
		}
		if !r.StorageCapacityScoring {
			without["VolumeBinding"] = phaseScore
		}
		t.Run(r.Name, func(t *testing.T) { descriptorsFit(t, r, without) })
	}
}

func descriptorsFit(t *testing.T, r *semantics.Release, without map[string]string) {
	args := DefaultArgs()
	for _, d := range Describe(r) {
		p, err := d.build(&args, r)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != d.Plugin {
			t.Errorf("%s is described as %s", p.Name, d.Plugin)
		}
		if (d.Code == "") != (len(d.Reasons) == 0) {
			t.Errorf("%s: code %q with reasons %q", d.Plugin, d.Code, d.Reasons)
		}
		for phase, has := range map[string]bool{phasePreFilter: p.PreFilter != nil, phaseFilter: p.Filter != nil, phaseScore: p.Score != nil, phasePostFilter: p.PostFilter != nil} {
			if named := slices.Contains(d.Phases, phase) && without[d.Plugin] != phase; named != has {
				t.Errorf("%s: %s named %v, implemented %v", d.Plugin, phase, named, has)
			}
		}
		if p.Details == nil && p.Filter != nil {
			t.Errorf("%s explains no rejection", d.Plugin)
		}
	}
}

// TestDefaultArgsAreRecordedAsEver: every recorded decision names the digest of its profile, and
// arguments are part of it.
func TestDefaultArgsAreRecordedAsEver(t *testing.T) {
	const args = `"args":{"nodeAffinity":{},` +
		`"nodeResourcesFit":{"strategy":"LeastAllocated","resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]},` +
		`"nodeResourcesBalancedAllocation":{"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]},` +
		`"podTopologySpread":{"system":true},"interPodAffinity":{"hardPodAffinityWeight":1},` +
		`"defaultPreemption":{"minCandidateNodesPercentage":10,"minCandidateNodesAbsolute":100}}}`
	p, err := Build(DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(p.Payload), args) {
		t.Errorf("arguments are recorded as\n%s\nnot as\n%s", p.Payload, args)
	}
}
