package semantics

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Unjudged is a row of docs/releases.md about a pod's admission, which is judged as by the newest
// release, and a reason why the answer of another one may differ.
type Unjudged struct{ Row, Reason string }

// admissionList has a line for each thing that a release does to a pod otherwise than the newest
// one, with the fields of the pod that it takes. Upstream's own packages made it
// (test/conformance/admit, TestReleases).
//
//go:embed admission.txt
var admissionList string

// admissionLine is a line of the list.
type admissionLine struct {
	minor, row, verb string
	needs            []string
	// fault is the field that the newest release refuses, where that makes the difference; empty
	// where it does not.
	fault string
}

var admissionLines = parseAdmission(admissionList)

func parseAdmission(text string) (list []admissionLine) {
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 5 {
			continue
		}
		l := admissionLine{minor: parts[0], row: parts[1], verb: parts[2], needs: strings.Fields(parts[3])}
		if what := strings.Fields(parts[4]); what[0] == "other" || what[1] == "more" {
			l.fault = what[2]
		}
		list = append(list, l)
	}
	return list
}

// Admission lists what of an admission by the newest release at its default gates may be otherwise
// in this one. has reports whether the pod, or the one that it replaces, has a field, and refused
// whether the newest release refuses one of the pod.
func (r *Release) Admission(update bool, has, refused func(path string) bool) (list []Unjudged) {
	newest, verb := Newest(), "create"
	if update {
		verb = "update"
	}
	for _, l := range admissionLines {
		known := slices.ContainsFunc(list, func(u Unjudged) bool { return u.Row == l.row })
		if l.minor != r.Minor() || l.verb != verb || known || l.fault != "" && !refused(l.fault) ||
			slices.ContainsFunc(l.needs, func(path string) bool { return !has(path) }) {
			continue
		}
		list = append(list, Unjudged{l.row, fmt.Sprintf("judged as by %s; %s may differ: %s (%s)",
			newest.Name, r.Minor(), admissionRows[l.row], l.row)})
	}
	slices.SortFunc(list, func(a, b Unjudged) int { return strings.Compare(a.Row, b.Row) })
	if r.GenericWorkload && has("spec.schedulingGroup") {
		list = append(list, Unjudged{"GenericWorkload", fmt.Sprintf("judged as by %s at its default gates, "+
			"by which spec.schedulingGroup is dropped; with GenericWorkload it is kept", newest.Name)})
	}
	return list
}

// admissionRows are the texts of the rows.
var admissionRows = map[string]string{
	"C2":  "resizePolicy RestartContainer is taken for init containers that are no sidecars",
	"C3":  "rules of containers about restarts do not restart all containers, and sidecars have none",
	"C5":  "pod-level resources are not filled in, and not kept by an update that leaves them out",
	"C6":  "with an empty spec.resources the pod is BestEffort",
	"C11": "another text about resizePolicy of pods that never restart",
	"C13": "rules of containers, env files, hostnameOverride and image volumes are dropped",
	"C14": "other rules for rules of init containers",
	"C15": "only Recursive is taken for seLinuxChangePolicy",
	"C16": "certificates of pods in projected volumes are dropped",
	"C17": "bundles of trust in projected volumes are dropped",
	"C18": "another text about keys of labels",
	"C19": "another text about operators of tolerations",
	"C20": "one more text about a CSI driver without a name",
}
