package semantics

import (
	"strings"
	"testing"
)

// TestAdmissionList: each line is of a release that is known or older, and its row has a text.
func TestAdmissionList(t *testing.T) {
	rows := map[string]bool{}
	for _, l := range admissionLines {
		rows[l.row] = true
		if admissionRows[l.row] == "" {
			t.Errorf("%s: row %s has no text", l.minor, l.row)
		}
		if l.minor == Newest().Minor() || l.verb != "create" && l.verb != "update" || len(l.needs) == 0 {
			t.Errorf("%+v concerns every pod, or none", l)
		}
	}
	for row := range admissionRows {
		if !rows[row] {
			t.Errorf("row %s has a text, and no line", row)
		}
	}
	if lines := strings.Count(admissionList, "\n") - strings.Count("\n"+admissionList, "\n#"); lines != len(admissionLines) {
		t.Errorf("%d lines are read of %d", len(admissionLines), lines)
	}
}

// TestAdmissionOfOthers: what concerns a pod is said of a release that differs, and of no other.
func TestAdmissionOfOthers(t *testing.T) {
	pod := func(fields ...string) func(string) bool {
		return func(path string) bool {
			for _, f := range fields {
				if f == path {
					return true
				}
			}
			return false
		}
	}
	const cert = "spec.volumes.projected.sources.podCertificate."
	gang, err := Parse("v1.37 GenericWorkload=true")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r       *Release
		has     func(string) bool
		refused string
		rows    string
	}{
		{v136, pod("spec.resources", "spec.containers.resources.limits"), "", "C6"},
		{v136, pod(cert+"keyType", cert+"signerName", cert+"credentialBundlePath"), "", "C16"},
		{v135, pod("metadata.labels", "spec.restartPolicy", "spec.containers.resizePolicy"), "", ""},
		{v135, pod("metadata.labels", "spec.restartPolicy", "spec.containers.resizePolicy"), "spec.containers.resizePolicy", "C11"},
		{v134, pod("metadata.labels"), "", ""},
		{v134, pod("metadata.labels"), "metadata.labels", "C18"},
		{v137, pod("spec.resources", "spec.containers.resources.limits", "spec.schedulingGroup"), "", ""},
		{v136, pod("spec.containers.image"), "", ""},
		{v136, func(string) bool { return false }, "", ""},
		{gang, pod("spec.schedulingGroup"), "", "GenericWorkload"},
		{gang, pod("spec.resources.limits"), "", ""},
	} {
		var rows []string
		for _, u := range c.r.Admission(false, c.has, pod(c.refused)) {
			rows = append(rows, u.Row)
			if !strings.Contains(u.Reason, Newest().Name) {
				t.Errorf("%s does not say as which release it is judged", u.Reason)
			}
		}
		if got := strings.Join(rows, " "); !strings.HasPrefix(got, c.rows) || c.rows == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.r.Stamp(), got, c.rows)
		}
	}
}

// TestOfFlags: kube-scheduler's version and flags are a release with its gates, without those that
// no decision reads.
func TestOfFlags(t *testing.T) {
	for _, c := range []struct{ version, emulates, gates, stamp, asked string }{
		{"v1.37.1", "", "", "v1.37.2", "v1.37"},
		{"v1.37.0-gke.100", "1.36", "", "v1.37.2 DRADeviceTaintRules=false StorageCapacityScoring=false VolumeLimitScaling=false", ""},
		{"v1.37.1", "kube=v1.37", "StorageCapacityScoring=False,NodeSwap=true", "v1.37.2 StorageCapacityScoring=false", "v1.37 StorageCapacityScoring=false"},
		{"v1.36.3", "", "GenericWorkload=true", "v1.36.3 GenericWorkload=true", ""},
	} {
		r, err := OfFlags(c.version, c.emulates, c.gates)
		if err != nil || r.Stamp() != c.stamp || c.asked != "" && r.Asked() != c.asked {
			t.Errorf("%+v: %v, %v", c, r, err)
			continue
		}
		if again, err := Parse(r.Asked()); err != nil || again.Stamp() != c.stamp {
			t.Errorf("%s is asked for as %q: %v", c.stamp, r.Asked(), err)
		}
	}
	for _, c := range [][3]string{{"v1.20.1", "", ""}, {"v1.36.1", "1.37", ""}, {"v1.37.1", "", "AllBeta=false"}, {"v1.37.1", "", "DRAAdminAccess=false"}} {
		if r, err := OfFlags(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v: %s", c, r.Stamp())
		}
	}
	if !v136.Before("v1.37.0") || v136.Before("v1.36.9") || v137.Before("v1.9.1") || v136.Before("") {
		t.Error("which release is before which")
	}
}
