package store

import "time"

// FactsStay is for how long facts of a pod stay behind its last decision: a server writes them
// again once a day at the most.
const FactsStay = 24 * time.Hour

// PodFacts are what SQL shows of a pod as it was judged, by its digest. No seal covers them: the
// pod itself is in the input of its records.
type PodFacts struct {
	Cluster   string
	Digest    string // Decision.PodDigest
	Namespace string
	Name      string
	UID       string
	// OwnerKind and OwnerName are of the controller, or of the controller's own where the state has
	// it: the Deployment of a ReplicaSet, the CronJob of a Job. Empty: none.
	OwnerKind, OwnerName string
	PriorityClass        string
	Priority             int32
	Scheduler            string
	CPUMilli             int64
	MemoryBytes          int64
	Requests             string    // JSON: amounts by resource, as Kubernetes writes them
	Labels               string    // JSON
	CreatedAt            time.Time // of the pod; zero: not known
	SeenAt               time.Time
}

func (f *PodFacts) validate(d *Decision) error {
	switch {
	case f == nil:
		return nil
	case f.Cluster != d.Cluster:
		return invalid("podFacts.cluster", "is not the decision's")
	case f.Digest == "" || f.Digest != d.PodDigest:
		return invalid("podFacts.digest", "is not that of the decision's pod")
	}
	return f.Validate()
}

// Validate returns why the facts cannot be stored.
func (f *PodFacts) Validate() error {
	switch {
	case !validJSON([]byte(f.Requests)):
		return invalid("podFacts.requests", "is not JSON")
	case !validJSON([]byte(f.Labels)):
		return invalid("podFacts.labels", "is not JSON")
	}
	if err := validateKeys("podFacts", f.Digest); err != nil {
		return err
	}
	if err := validateTimes("podFacts", f.SeenAt); err != nil {
		return err
	}
	if !f.CreatedAt.IsZero() {
		if err := validateTimes("podFacts", f.CreatedAt); err != nil {
			return err
		}
	}
	return validateText("podFacts", f.Namespace, f.Name, f.UID, f.OwnerKind, f.OwnerName, f.PriorityClass, f.Scheduler, f.Requests, f.Labels)
}
