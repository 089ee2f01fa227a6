package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// maxKey bounds the texts that indexes hold, in bytes. Postgres takes no more
// than 2,704 of a whole entry, and would refuse the batch that an entry is in.
// Kubernetes' names have 253 at the most.
const maxKey = 1000

// Validate returns why an entry cannot be stored by every backend alike; the
// error wraps ErrInvalid and names the field. Strings must be UTF-8 without
// NUL (Postgres' text takes nothing else), JSON must be JSON, and a revision
// without a change needs its checkpoint. Payloads may hold any bytes. Backends
// call it in Append for each entry, so that one bad record spoils no batch.
func (e *Entry) Validate() error {
	if e.Gap != nil {
		return e.validateGap()
	}
	if e.Call != nil {
		if err := e.Call.Validate(); err != nil {
			return err
		}
	}
	if e.Revision == nil && e.Decision == nil && len(e.Placed) == 0 {
		return invalid("entry", "has neither revision nor decision")
	}
	if err := e.validateRevision(); err != nil {
		return err
	}
	if err := e.validateHolds(); err != nil {
		return err
	}
	if err := e.validateOrigin(); err != nil {
		return err
	}
	if e.Profile != nil {
		if err := e.Profile.validate(); err != nil {
			return err
		}
	}
	for _, p := range e.Profiles {
		if err := p.validate(); err != nil {
			return err
		}
	}
	cluster := ""
	if e.Revision != nil {
		cluster = e.Revision.Cluster
	}
	for d := range e.Decisions() {
		if cluster == "" {
			cluster = d.Cluster
		}
		if err := d.validate(); err != nil {
			return err
		}
		if d.Cluster != cluster {
			return invalid("decision.cluster", "is not that of the entry")
		}
	}
	return nil
}

func (p *Profile) validate() error {
	if err := validateText("profile", p.Digest, p.Name); err != nil {
		return err
	}
	if p.Digest == "" {
		return invalid("profile.digest", "is empty")
	}
	return validateKeys("profile.digest", p.Digest)
}

func (e *Entry) validateGap() error {
	g := e.Gap
	switch {
	case e.Revision != nil || e.Checkpoint != nil || e.Profile != nil || e.Decision != nil || e.Placed != nil || e.Profiles != nil || e.Holds != nil || e.Origin != nil || e.Call != nil:
		return invalid("gap", "comes with something else")
	case g.ID == "":
		return invalid("gap.id", "is empty")
	case g.Cluster == "":
		return invalid("gap.cluster", "is empty")
	case g.Cause == "":
		return invalid("gap.cause", "is empty")
	case g.Lost < UnknownLoss || g.Lost == 0:
		return invalid("gap.lost", "is neither a count nor unknown")
	case g.Until.Before(g.Since):
		return invalid("gap.until", "is before since")
	}
	return validateText("gap", g.ID, g.Cluster, g.Cause, g.Instance)
}

func (e *Entry) validateRevision() error {
	r, c := e.Revision, e.Checkpoint
	if r == nil {
		if c != nil {
			return invalid("checkpoint", "comes without its revision")
		}
		return nil
	}
	switch {
	case r.Cluster == "":
		return invalid("revision.cluster", "is empty")
	case r.Number < 1:
		return invalid("revision.number", "is below 1")
	case r.Token == "":
		return invalid("revision.token", "is empty")
	case r.Token == r.ParentToken:
		return invalid("revision.token", "is its parent's")
	case r.Change == nil && c == nil && e.Origin == nil:
		return invalid("checkpoint", "is missing for a revision without a change")
	case c != nil && (c.Cluster != r.Cluster || c.Number != r.Number):
		return invalid("checkpoint", "is not the revision's")
	case r.Summary != nil && !validJSON(r.Summary):
		return invalid("revision.summary", "is not JSON")
	}
	if err := validateKeys("revision", r.Cluster, r.Token, r.ParentToken); err != nil {
		return err
	}
	if err := validateTimes("revision", r.CreatedAt); err != nil {
		return err
	}
	if err := r.ValidateChanges(); err != nil {
		return err
	}
	return validateText("revision", r.Cluster, r.Token, r.ParentToken, r.Digest, r.Cause, r.Asked.By, r.Asked.Peer, r.Asked.RequestID)
}

func (d *Decision) validate() error {
	switch {
	case d.ID == "":
		return invalid("decision.id", "is empty")
	case d.Cluster == "":
		return invalid("decision.cluster", "is empty")
	case d.Revision < 0:
		return invalid("decision.revision", "is below 0")
	case d.BoundRevision < 0:
		return invalid("decision.boundRevision", "is below 0")
	case d.StaleMillis != nil && *d.StaleMillis < 0:
		return invalid("decision.staleMillis", "is below 0")
	}
	if err := d.ValidateFacts(); err != nil {
		return err
	}
	if err := validateEncoded("decision.blockers", d.Blockers); err != nil {
		return err
	}
	if len(d.Blockers) > maxBlockerBytes {
		return invalid("decision.blockers", fmt.Sprintf("has %d bytes, and %d are the most", len(d.Blockers), maxBlockerBytes))
	}
	for i := range DecisionColumns {
		c := &DecisionColumns[i]
		if err := c.validate(d); err != nil {
			return err
		}
	}
	if err := d.validateLists(); err != nil {
		return err
	}
	for i := range d.Victims {
		v := &d.Victims[i]
		texts := []string{v.Namespace, v.Pod, v.UID, v.Node, v.OwnerKind, v.OwnerName}
		if v.Budget != nil {
			texts = append(texts, *v.Budget)
		}
		if err := validateText("decision.victims", texts...); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decision) validateLists() error {
	for i := range d.Failures {
		f := &d.Failures[i]
		if err := validateText("decision.failures", f.Plugin, f.Code, f.Reason); err != nil {
			return err
		}
		if err := validateText("decision.failures.names", f.Names...); err != nil {
			return err
		}
		for _, p := range f.Pools {
			if err := validateText("decision.failures.pools", p.Pool); err != nil {
				return err
			}
		}
	}
	for i := range d.Scores {
		s := &d.Scores[i]
		if err := validateText("decision.scores", s.Node); err != nil {
			return err
		}
		for j := range s.Plugins {
			if err := validateText("decision.scores.plugins", s.Plugins[j].Plugin); err != nil {
				return err
			}
		}
	}
	return nil
}

// validate wants a field that the column can hold, whatever the backend.
func (c *Column) validate(d *Decision) error {
	if c.Field == nil {
		return nil
	}
	switch field := c.Field(d).(type) {
	case *string:
		if c.Kind == Key {
			if err := validateKeys("decision", *field); err != nil {
				return err
			}
		}
		return validateText("decision", *field)
	case *time.Time:
		return validateTimes("decision", *field)
	}
	return nil
}

func validateKeys(where string, texts ...string) error {
	for _, t := range texts {
		if len(t) > maxKey {
			return invalid(where, fmt.Sprintf("holds a key of %d bytes, and %d are the most", len(t), maxKey))
		}
	}
	return nil
}

// validateTimes wants years that every backend can write and read.
func validateTimes(where string, times ...time.Time) error {
	for _, t := range times {
		if y := t.UTC().Year(); y < 1 || y > 9999 {
			return invalid(where, "has a time before the year 1 or after 9999")
		}
	}
	return nil
}

func validateText(where string, texts ...string) error {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return invalid(where, "holds text that is not UTF-8")
		}
		if strings.IndexByte(t, 0) >= 0 {
			return invalid(where, "holds text with a NUL")
		}
	}
	return nil
}

// validJSON wants UTF-8 too, which encoding/json lets pass inside strings.
func validJSON(b []byte) bool { return utf8.Valid(b) && json.Valid(b) }

func invalid(field, why string) error {
	return fmt.Errorf("%s %s: %w", field, why, ErrInvalid)
}
