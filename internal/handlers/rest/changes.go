package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	ledger "berth/internal/decision/admit"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/keyed"
	"berth/internal/kube/object"
)

// ChangeRequest is a difference to the newest revision. An object is named once in it, or patched
// and then deleted. Deletions are made first, pods last.
type ChangeRequest struct {
	// Apply holds manifests: an object that is there is updated as by an apiserver and keeps what
	// the manifest leaves out; another one is created.
	Apply []json.RawMessage `json:"apply" swaggertype:"array,object"`
	// Patch changes single fields of objects that are there.
	Patch []ledger.Patch `json:"patch"`
	// Replace holds objects that are stored as they stand.
	Replace []json.RawMessage `json:"replace" swaggertype:"array,object"`
	// Delete names objects to remove. One that does not exist is passed over
	// and named in the answer.
	Delete []ledger.Deletion `json:"delete"`
	// Strict makes it an error to delete an object that does not exist.
	Strict bool `json:"strict"`
} // @name ChangeRequest

// changeSnapshot makes the next revision out of a difference.
//
//	@Summary		Change a cluster's state
//	@Description	Makes the next revision. Applied and patched objects are admitted as by an apiserver. The answer names what was deleted and what was not there. Returns 200 with the newest revision if nothing changes. Returns 409 if {id} is not the newest revision, which is not checked for cluster@latest, and if a bound pod would move.
//	@Tags			snapshots
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			id		path		string			true	"the newest revision: cluster@revision, or cluster@latest"
//	@Param			body	body		ChangeRequest	true	"what to apply, patch, replace and delete"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200,201	{object}	Snapshot
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/snapshots/{id}/changes [post]
func (a *API) changeSnapshot(w http.ResponseWriter, r *http.Request) error {
	name, parent, err := snapshotID(r)
	if err != nil {
		return err
	}
	if err := a.notFollowed(name); err != nil {
		return err
	}
	if _, err := a.view(r.Context(), name, 0); err != nil {
		return err // before the body is read
	}
	body, err := a.JSONBody(w, r, a.Limits.ChangesMaxBytes, "changes-max-bytes")
	if err != nil {
		return err
	}
	var req ChangeRequest
	p, err := a.decodePosted(r, body, &req, exchange.ChangesBounds(&a.Limits))
	if err != nil {
		return err
	}
	answer := keyed.Answering(r.Context(), func(made *ledger.Result) error { return answerChange(w, p, made) })
	made, err := a.ledger.Change(r.Context(), name, parent, ledger.Change{
		Apply: req.Apply, Replace: req.Replace, Patch: req.Patch, Delete: req.Delete, Strict: req.Strict, Read: p.object,
	})
	if err != nil {
		return err
	}
	if made.Changed {
		a.Metrics.Received(made.View)
	}
	return answer(made)
}

// answerChange writes the answer of a change.
func answerChange(w http.ResponseWriter, p *posted, made *ledger.Result) error {
	v := made.View
	s, status := snapshotOf(v), http.StatusOK
	if made.Changed {
		s.Summary = v.Caused() // what was odd before was said before
		status = http.StatusCreated
	}
	w.Header().Set("Location", "/v1/snapshots/"+v.ID())
	said := *p
	said.warnings = slices.Concat(p.warnings, made.Warnings)
	s.Warnings = said.warn(w)
	s.Deleted, s.Ending, s.NotFound = made.Deleted, made.Ending, made.Absent
	return exchange.WriteJSON(w, status, s)
}

// preempted returns ledger.Options.Preempted of a log.
func preempted(log admit.Decisions) func(ctx context.Context, cluster string, pods []object.Key) ([]ledger.Preemption, error) {
	return func(ctx context.Context, cluster string, pods []object.Key) ([]ledger.Preemption, error) {
		list, err := log.Preempted(ctx, cluster, pods)
		out := make([]ledger.Preemption, len(list))
		for i, x := range list {
			out[i] = ledger.Preemption{
				Victim: object.Key{Kind: "Pod", Namespace: x.Victim.Namespace, Name: x.Victim.Name}, VictimUID: x.Victim.UID,
				For: object.Key{Kind: "Pod", Namespace: x.For.Namespace, Name: x.For.Name}, ForUID: x.For.UID,
			}
		}
		return out, err
	}
}
