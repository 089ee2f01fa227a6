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
}

var admissionLines = parseAdmission(admissionList)

func parseAdmission(text string) (list []admissionLine) {
	for line := range strings.Lines(text) {
		if parts := strings.Split(line, "\t"); len(parts) == 5 {
			list = append(list, admissionLine{parts[0], parts[1], parts[2], strings.Fields(parts[3])})
		}
	}
	return list
}

// Admission lists what of an admission by the newest release at its default gates may be otherwise
// in this one. has reports whether the pod, or the one that it replaces, has a field.
func (r *Release) Admission(update bool, has func(path string) bool) (list []Unjudged) {
	newest, verb := Newest(), "create"
	if update {
		verb = "update"
	}
	for _, l := range admissionLines {
		known := slices.ContainsFunc(list, func(u Unjudged) bool { return u.Row == l.row })
		if l.minor != r.Minor() || l.verb != verb || known ||
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
	"C15": "only Recursive is taken for seLinuxChangePolicy",
	"C16": "certificates of pods in projected volumes are dropped",
	"C17": "bundles of trust in projected volumes are dropped",
}
