package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/handlers/exchange"
	"berth/internal/memory"
	"berth/internal/report"
	"berth/internal/store"
)

// PriorityClass describes scheduling.k8s.io/v1 PriorityClass as berth keeps it: metadata without
// owners, finalizers, managed fields and what kubectl applied last.
type PriorityClass struct {
	APIVersion string            `json:"apiVersion" example:"scheduling.k8s.io/v1"`
	Kind       string            `json:"kind" example:"PriorityClass"`
	Metadata   PriorityClassMeta `json:"metadata"`
	// Value is at most 1000000000, but for the two built-in classes. It cannot change.
	Value int32 `json:"value"`
	// GlobalDefault makes it the class of pods without a class; one class of a cluster can be.
	GlobalDefault bool   `json:"globalDefault,omitempty"`
	Description   string `json:"description,omitempty"`
	// PreemptionPolicy cannot change.
	PreemptionPolicy string `json:"preemptionPolicy,omitempty" enums:"PreemptLowerPriority,Never" default:"PreemptLowerPriority"`
} // @name PriorityClass

// PriorityClassMeta is the metadata of a class.
type PriorityClassMeta struct {
	Name         string `json:"name"`
	GenerateName string `json:"generateName,omitempty"`
	UID          string `json:"uid,omitempty"`
	// ResourceVersion, given in a PUT, must be the stored one.
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	Generation        int64             `json:"generation,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
} // @name PriorityClassMeta

// PriorityClassList describes scheduling.k8s.io/v1 PriorityClassList.
type PriorityClassList struct {
	APIVersion string `json:"apiVersion" example:"scheduling.k8s.io/v1"`
	Kind       string `json:"kind" example:"PriorityClassList"`
	Metadata   struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	// Snapshot is the cluster's newest revision, whose classes are among the items; absent without
	// one.
	Snapshot string `json:"snapshot,omitempty" example:"prod@1042"`
	// Items are by name. Of several with one name the one that counts comes first: the snapshot's,
	// then the stored one, then the built-in one.
	Items []ListedPriorityClass `json:"items"`
	// Warnings name several global defaults, and which of them counts.
	Warnings []string `json:"warnings,omitempty"`
} // @name PriorityClassList

// ListedPriorityClass describes report.ListedClass.
type ListedPriorityClass struct {
	PriorityClass
	// Source is where the class is. PUT and DELETE concern the stored ones; a snapshot's classes
	// are changed with the snapshot.
	Source string `json:"source" enums:"snapshot,stored,system"`
	// OverriddenBy is the source of the class of this name that counts in this one's place.
	OverriddenBy string `json:"overriddenBy,omitempty" enums:"snapshot"`
} // @name ListedPriorityClass

// listPriorityClasses lists a cluster's classes.
//
//	@Summary		List priority classes, by name
//	@Description	The classes of the cluster's newest snapshot, the stored ones and the two built-in ones, each with its source. A pod gets its class from the snapshot, else from the stored ones, else from the built-in ones.
//	@Tags			priorityclasses
//	@Produce		json
//	@Param			cluster	query		string	false	"the cluster; default if absent"
//	@Success		200		{object}	PriorityClassList
//	@Failure		400,401,403,429,500,503	{object}	exchange.Problem
//	@Router			/v1/priorityclasses [get]
func (a *API) listPriorityClasses(w http.ResponseWriter, r *http.Request) error {
	cluster, err := queryCluster(r)
	if err != nil {
		return err
	}
	stored, err := a.listClasses(r.Context(), cluster)
	if err != nil {
		return err
	}
	size := 0
	for i := range stored.Items {
		size += stored.Items[i].Size()
	}
	if err := exchange.TakeAnswer(r.Context(), len(stored.Items), size); err != nil {
		return err
	}
	v, err := a.clusters.View(r.Context(), cluster, 0)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	list, err := report.ClassListOf(r.Context(), v, stored)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, list)
}

// listClasses reads the stored classes of a cluster.
func (a *API) listClasses(ctx context.Context, cluster string) (*schedulingv1.PriorityClassList, error) {
	if err := memory.Take(ctx, int64(a.Limits.MaxPriorityClasses)*int64(a.Limits.PriorityClassMaxBytes)); err != nil {
		return nil, err
	}
	return a.priorityClasses.List(ctx, cluster)
}

// getPriorityClass returns one class.
//
//	@Summary	A priority class
//	@Tags		priorityclasses
//	@Produce	json
//	@Param		name	path		string	true	"the class"
//	@Param		cluster	query		string	false	"the cluster; default if absent"
//	@Success	200		{object}	PriorityClass
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/priorityclasses/{name} [get]
func (a *API) getPriorityClass(w http.ResponseWriter, r *http.Request) error {
	cluster, name, err := classPath(r)
	if err != nil {
		return err
	}
	c, err := a.priorityClasses.Get(r.Context(), cluster, name)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, c)
}

// createPriorityClass adds a class.
//
//	@Summary		Create a priority class
//	@Description	Returns 403 if another class is the default already, and 409 if a class of that name exists. Existing pods keep their priority.
//	@Tags			priorityclasses
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster	query		string			false	"the cluster; default if absent"
//	@Param			body	body		PriorityClass	true	"the class"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		201		{object}	PriorityClass
//	@Failure		400,401,403,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/priorityclasses [post]
func (a *API) createPriorityClass(w http.ResponseWriter, r *http.Request) error {
	cluster, err := queryCluster(r)
	if err != nil {
		return err
	}
	return a.withClass(w, r, func(in *schedulingv1.PriorityClass) error {
		if err := a.roomForClass(cluster); err != nil {
			return err
		}
		c, err := a.priorityClasses.Create(r.Context(), cluster, in)
		if err != nil {
			return err
		}
		w.Header().Set("Location", "/v1/priorityclasses/"+c.Name)
		return exchange.WriteJSON(w, http.StatusCreated, c)
	})
}

// roomForClass refuses a class that would be one too many. Calls at the same moment may pass the
// limits by their number.
func (a *API) roomForClass(cluster string) error {
	inCluster, inAll := a.priorityClasses.Count(cluster)
	if n := a.Limits.MaxPriorityClasses; inCluster >= n {
		return exchange.TooLarge("max-priority-classes", fmt.Sprintf("the cluster has the most stored priority classes that the limit max-priority-classes=%d allows", n))
	}
	if n := a.Limits.MaxAllPriorityClasses; inAll >= n {
		return exchange.TooLarge("max-all-priority-classes", fmt.Sprintf("all clusters together have the most stored priority classes that the limit max-all-priority-classes=%d allows; delete clusters that are not needed", n))
	}
	return nil
}

// updatePriorityClass replaces a class.
//
//	@Summary		Update a priority class
//	@Description	The value and the preemptionPolicy cannot change. Returns 409 if a resourceVersion is given and is not the stored one.
//	@Tags			priorityclasses
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			name	path		string			true	"the class"
//	@Param			cluster	query		string			false	"the cluster; default if absent"
//	@Param			body	body		PriorityClass	true	"the class"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	PriorityClass
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/priorityclasses/{name} [put]
func (a *API) updatePriorityClass(w http.ResponseWriter, r *http.Request) error {
	cluster, name, err := classPath(r)
	if err != nil {
		return err
	}
	return a.withClass(w, r, func(in *schedulingv1.PriorityClass) error {
		c, err := a.priorityClasses.Update(r.Context(), cluster, name, in)
		if err != nil {
			return err
		}
		return exchange.WriteJSON(w, http.StatusOK, c)
	})
}

// deletePriorityClass removes a class.
//
//	@Summary		Delete a priority class
//	@Description	Existing pods keep their priority. New pods that name the class are refused. The built-in classes cannot be deleted (403). The answer is a v1 Status, as an API server's.
//	@Tags			priorityclasses
//	@Produce		json
//	@Param			name	path		string	true	"the class"
//	@Param			cluster	query		string	false	"the cluster; default if absent"
//	@Success		200		{object}	object
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/priorityclasses/{name} [delete]
func (a *API) deletePriorityClass(w http.ResponseWriter, r *http.Request) error {
	cluster, name, err := classPath(r)
	if err != nil {
		return err
	}
	c, err := a.priorityClasses.Delete(r.Context(), cluster, name)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: name, Group: schedulingv1.GroupName, Kind: "priorityclasses", UID: c.UID},
	})
}

func classPath(r *http.Request) (cluster, name string, err error) {
	if cluster, err = queryCluster(r); err != nil {
		return "", "", err
	}
	name, err = exchange.PathParam(r, "name")
	return cluster, name, err
}

// withClass decodes the class in a body.
func (a *API) withClass(w http.ResponseWriter, r *http.Request, use func(*schedulingv1.PriorityClass) error) error {
	body, err := a.JSONBody(w, r, a.Limits.PriorityClassMaxBytes, "priority-class-max-bytes")
	if err != nil {
		return err
	}
	p, err := a.posted(r)
	if err != nil {
		return err
	}
	c := &schedulingv1.PriorityClass{}
	if err := exchange.DecodeKubernetes(body, c, exchange.DecisionBounds(&a.Limits)); err != nil {
		return invalidClass(err)
	}
	if err := exchange.WantKind(c.TypeMeta, "PriorityClass", schedulingv1.SchemeGroupVersion.String()); err != nil {
		return err
	}
	if err := p.fields("", body, "PriorityClass"); err != nil {
		return err
	}
	p.warn(w)
	return use(c)
}

// invalidClass tells a class with a field of another type, such as a value beyond 32 bits, from a
// body that is none: the class is invalid, as a pod of a decision would be.
func invalidClass(err error) error {
	if e := exchange.Translate(err); len(e.Fields) > 0 && e.Status == http.StatusBadRequest {
		e.Status, e.Kind = http.StatusUnprocessableEntity, "invalid"
		return e
	}
	return err
}
