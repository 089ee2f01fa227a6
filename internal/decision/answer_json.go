package decision

import (
	"fmt"
	"time"

	"berth/internal/jsonscan"
)

// AppendJSON appends the answer as encoding/json writes it.
func (a *Answer) AppendJSON(b []byte) ([]byte, error) {
	w := &jsonscan.Writer{JSON: append(b, '{')}
	label := `"cluster":`
	if a.ID != "" {
		w.Text(`"id":`, a.ID)
		label = `,"cluster":`
	}
	w.Text(label, a.Cluster)
	w.Text(`,"snapshot":`, a.Snapshot)
	w.Text(`,"profile":`, a.Profile)
	w.OptText(`,"profileFallback":`, a.ProfileFallback)
	w.Text(`,"engine":`, a.Engine)
	w.Text(`,"semantics":`, a.Semantics)
	if at := a.CreatedAt.UTC(); at == a.CreatedAt && at.Year() > 0 && at.Year() < 10_000 {
		w.JSON = append(at.AppendFormat(append(w.JSON, `,"createdAt":"`...), time.RFC3339Nano), '"')
	} else {
		w.Value(`,"createdAt":`, a.CreatedAt)
	}
	w.Text(`,"verb":`, a.Verb)
	w.Text(`,"pod":{"namespace":`, a.Pod.Namespace)
	w.Text(`,"name":`, a.Pod.Name)
	w.Text(`,"uid":`, a.Pod.UID)
	w.JSON = append(w.JSON, "},"...)
	if a.encoded != nil {
		w.JSON = a.encoded.Append(w.JSON)
	} else {
		a.WriteMembers(w)
	}
	jsonscan.OptValues(w, `,"groups":`, a.Groups)
	if a.Narrowed != nil {
		w.Value(`,"narrowed":`, a.Narrowed)
	}
	jsonscan.OptValues(w, `,"suggestions":`, a.Suggestions)
	w.OptText(`,"boundTo":`, a.BoundTo)
	w.OptTexts(`,"notes":`, a.Notes)
	w.OptText(`,"boundSnapshot":`, a.BoundSnapshot)
	if a.BoundEffects != nil {
		w.Value(`,"boundAlong":`, a.BoundEffects)
	}
	w.OptText(`,"nominatedSnapshot":`, a.NominatedSnapshot)
	w.OptText(`,"pendingSnapshot":`, a.PendingSnapshot)
	w.Text(`,"profileDigest":`, a.ProfileDigest)
	w.Text(`,"snapshotDigest":`, a.SnapshotDigest)
	w.Text(`,"podDigest":`, a.PodDigest)
	w.Int(`,"durationMicros":`, a.DurationMicros)
	w.OptText(`,"mode":`, a.Mode)
	w.OptRef(`,"staleMillis":`, a.StaleMillis)
	w.OptText(`,"durability":`, a.Durability)
	w.OptTexts(`,"warnings":`, a.Warnings)
	if w.Err != nil {
		return nil, fmt.Errorf("marshal the answer: %w", w.Err)
	}
	return append(w.JSON, '}'), nil
}
