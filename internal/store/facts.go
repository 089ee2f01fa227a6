package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/internal/jsonscan"
)

// FactsStay is for how long facts of a pod stay behind its last decision: a server writes them
// again once a day at the most.
const FactsStay = 24 * time.Hour

// nul is NUL in JSON, which Postgres has no text with.
const nul = `\u0000`

// PodFacts are what SQL shows of a pod as it was judged, beside what the columns of its records
// say. Decision.Facts has them, and roll-ups copy them to a table by the pod's digest.
type PodFacts struct {
	// OwnerKind and OwnerName are of the controller, or of the controller's own where the state has
	// it: the Deployment of a ReplicaSet, the CronJob of a Job. Empty: none.
	OwnerKind, OwnerName string
	PriorityClass        string
	Scheduler            string
	CPUMilli             int64
	MemoryBytes          int64
	Requests             json.RawMessage // an object: amounts by resource, as Kubernetes writes them
	Labels               json.RawMessage // an object
	CreatedAt            time.Time       // of the pod; zero: not known
}

// Encode returns the facts as Decision.Facts: a JSON list of the fields in their order, the time in
// microseconds since 1970 or 0. It is written by hand since it is for each new pod.
func (f *PodFacts) Encode() string {
	var room [512]byte
	b := append(room[:0], '[')
	for _, text := range [...]string{f.OwnerKind, f.OwnerName, f.PriorityClass, f.Scheduler} {
		b = append(jsonscan.AppendString(b, text), ',')
	}
	b = append(strconv.AppendInt(b, f.CPUMilli, 10), ',')
	b = append(strconv.AppendInt(b, f.MemoryBytes, 10), ',')
	b = append(append(b, f.Requests...), ',')
	b = append(append(b, f.Labels...), ',')
	created := int64(0)
	if !f.CreatedAt.IsZero() {
		created = f.CreatedAt.UnixMicro()
	}
	b = append(strconv.AppendInt(b, created, 10), ']')
	return strings.ReplaceAll(string(b), nul, `\ufffd`)
}

// ValidateFacts returns why Facts cannot be stored. It does not look at each field, since it is for
// each new pod.
func (d *Decision) ValidateFacts() error {
	if d.Facts != "" && d.PodDigest == "" {
		return invalid("decision.facts", "is about a pod without a digest")
	}
	return validateEncoded("decision.facts", d.Facts)
}

// validateEncoded wants a JSON list, or nothing.
func validateEncoded(where, list string) error {
	if list == "" {
		return nil
	}
	if list[0] != '[' || !json.Valid([]byte(list)) || strings.Contains(list, nul) {
		return invalid(where, "is not a JSON list without NUL")
	}
	return validateText(where, list)
}

// PodFacts reads Facts; nil where the record has none.
func (d *Decision) PodFacts() (*PodFacts, error) {
	if d.Facts == "" {
		return nil, nil
	}
	f, created := &PodFacts{}, int64(0)
	fields := []any{
		&f.OwnerKind, &f.OwnerName, &f.PriorityClass, &f.Scheduler,
		&f.CPUMilli, &f.MemoryBytes, &f.Requests, &f.Labels, &created,
	}
	n := len(fields)
	if err := json.Unmarshal([]byte(d.Facts), &fields); err != nil {
		return nil, invalid("decision.facts", err.Error())
	}
	if len(fields) != n {
		return nil, invalid("decision.facts", fmt.Sprintf("has %d fields, not %d", len(fields), n))
	}
	if created != 0 {
		f.CreatedAt = time.UnixMicro(created).UTC()
	}
	return f, nil
}
