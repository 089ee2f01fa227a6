package revision

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// latest stands for the newest revision in an id.
const latest = "latest"

// FormatID writes a snapshot's id, "prod@1042"; revision 0 is "prod@latest".
func FormatID(cluster string, revision int64) string {
	if revision == 0 {
		return cluster + "@" + latest
	}
	return cluster + "@" + strconv.FormatInt(revision, 10)
}

// ParseID reads a snapshot's id: "prod@1042", or "prod@latest", which gives
// revision 0. Errors are *InvalidError.
func ParseID(s string) (cluster string, revision int64, err error) {
	name, rev, ok := strings.Cut(s, "@")
	if !ok {
		return "", 0, &InvalidError{Field: "snapshot", Detail: fmt.Sprintf("%q is not of the form cluster@revision or cluster@latest", s)}
	}
	if err := CheckName(name); err != nil {
		return "", 0, err
	}
	if rev == latest {
		return name, 0, nil
	}
	n, err := strconv.ParseInt(rev, 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != rev {
		return "", 0, &InvalidError{Field: "snapshot", Detail: fmt.Sprintf("revision %q is neither a number from 1 on nor %q", rev, latest)}
	}
	return name, n, nil
}

// simulation begins the name of a state that is no revision: one that the scenario of a job comes
// to.
const simulation = "simulation:"

// FormatApart names what the scenario of a job comes to at a time: "simulation:0198…@5m30s".
func FormatApart(job string, at time.Duration) string { return simulation + job + "@" + at.String() }

// IsApart reports whether a snapshot's name is of a state that a scenario comes to.
func IsApart(s string) bool { return strings.HasPrefix(s, simulation) }

// ParseApart reads the name of a state that a scenario comes to.
func ParseApart(s string) (job, at string, err error) {
	job, at, ok := strings.Cut(strings.TrimPrefix(s, simulation), "@")
	if !ok || job == "" || at == "" {
		return "", "", &InvalidError{Field: "snapshot", Detail: fmt.Sprintf("%.120q is not of the form %sJOB@TIME", s, simulation)}
	}
	return job, at, nil
}

// CheckName returns nil for the valid name of a cluster: lower case letters, digits
// and hyphens, at most 63, no hyphen at either end. Errors are *InvalidError.
func CheckName(name string) error {
	if !validName(name) {
		return &InvalidError{Field: "cluster", Detail: fmt.Sprintf("%q is not a cluster's name: lower case letters, digits and inner hyphens, at most 63", name)}
	}
	return nil
}

func validName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	n := len(name)
	return n > 0 && n <= 63 && name[0] != '-' && name[n-1] != '-'
}
