package rest

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"berth/internal/handlers/exchange"
	"berth/internal/revision"
)

// jobPage reads which page of jobs is wanted, and returns it with the cursor of the next one.
func jobPage[J any](a *API, r *http.Request, list func(ctx context.Context, cluster, before string, limit int) ([]J, error), id func(J) string) (items []J, cursor string, err error) {
	q := r.URL.Query()
	name := q.Get("cluster")
	if name != "" {
		if err := revision.CheckName(name); err != nil {
			return nil, "", exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
		}
	}
	before, err := a.openCursor(r)
	if err != nil {
		return nil, "", err
	}
	limit, err := a.pageSize(r)
	if err != nil {
		return nil, "", err
	}
	if items, err = list(r.Context(), name, before, limit+1); err == nil && len(items) > limit {
		items, cursor = items[:limit], a.sealCursor(r, id(items[limit-1]))
	}
	if err == nil {
		err = a.checkCluster(r.Context(), name, len(items))
	}
	return items, cursor, err
}

// jobID reads the id in the path.
func jobID(r *http.Request) (string, error) { return pathID(r, "job") }

// pathID is jobID of something else.
func pathID(r *http.Request, of string) (string, error) {
	id, err := exchange.PathParam(r, "id")
	if err != nil {
		return "", err
	}
	return strings.ToLower(id), checkID("id", id, of)
}

// checkJobID refuses what is no job's id.
func checkJobID(field, id string) error { return checkID(field, id, "job") }

func checkID(field, id, of string) error {
	if len(id) != 36 || uuid.Validate(id) != nil {
		return exchange.BadField(http.StatusBadRequest, field, "it is not a "+of+"'s id, which is a UUID")
	}
	return nil
}

// withJob answers with the job in the path once something was done with it.
func withJob[J any](w http.ResponseWriter, r *http.Request, do func(context.Context, string) (J, error)) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	job, err := do(r.Context(), id)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, job)
}

// deleteJob removes the job in the path.
func deleteJob(w http.ResponseWriter, r *http.Request, do func(context.Context, string) error) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	if err := do(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
