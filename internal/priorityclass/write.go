package priorityclass

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
	"berth/internal/kube/object/stored"
	"berth/internal/store"
)

// tries is how often an update that names no version is begun anew.
const tries = 5

// Create adds a class: an *InvalidError, an *ExistsError, or a *ForbiddenError
// where another is the default already (pkg/registry/scheduling/priorityclass,
// plugin/pkg/admission/priority validatePriorityClass). The argument is not
// written.
func (r *Registry) Create(ctx context.Context, cluster string, in *schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error) {
	c := reduce(in)
	if in.ResourceVersion != "" {
		return nil, &InvalidError{c.Name, field.ErrorList{field.Forbidden(field.NewPath("metadata", "resourceVersion"), "resourceVersion should not be set on objects to be created")}}
	}
	if c.Name == "" && c.GenerateName != "" {
		c.Name = object.GenerateName(c.GenerateName)
	}
	c.Generation, c.CreationTimestamp = 1, metav1.NewTime(r.o.Clock().UTC().Truncate(1e9))
	if errs := apiserver.ValidateClass(c); len(errs) > 0 {
		return nil, &InvalidError{c.Name, errs}
	}
	if stored.SystemClass(c.Name) != nil {
		return nil, &ExistsError{c.Name}
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("make a UID: %w", err)
	}
	c.UID = types.UID(id.String())
	if p := (*r.byCluster.Load())[cluster]; p != nil && len(p.byName) >= maxClasses {
		return nil, &FullError{maxClasses}
	}
	return r.put(ctx, cluster, c, 0)
}

// Update replaces a class, of the resourceVersion in it if there is one: a
// *MissingError, *MismatchError, *InvalidError, *ConflictError or
// *ForbiddenError. The argument is not written.
func (r *Registry) Update(ctx context.Context, cluster, name string, in *schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error) {
	if in.Name != name {
		return nil, &MismatchError{in.Name, name}
	}
	for n := 1; ; n++ {
		c, err := r.update(ctx, cluster, name, in)
		var lost *ConflictError
		if in.ResourceVersion == "" && n < tries && errors.As(err, &lost) {
			continue // no version was required
		}
		return c, err
	}
}

func (r *Registry) update(ctx context.Context, cluster, name string, in *schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error) {
	old, err := r.Get(ctx, cluster, name)
	if err != nil {
		return nil, err
	}
	if in.ResourceVersion != "" && in.ResourceVersion != old.ResourceVersion || in.UID != "" && in.UID != old.UID {
		return nil, &ConflictError{name}
	}
	c := reduce(in)
	c.UID, c.Generation, c.CreationTimestamp, c.ResourceVersion = old.UID, old.Generation, old.CreationTimestamp, old.ResourceVersion
	c.GenerateName = old.GenerateName
	// An API server validates an update as little as this, and so lets a
	// policy pass that it would refuse on create; but that cannot change.
	if errs := apiserver.ValidateClassUpdate(c, old); len(errs) > 0 {
		return nil, &InvalidError{name, errs}
	}
	expect, err := strconv.ParseInt(old.ResourceVersion, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("resourceVersion of priority class %s: %w", name, err)
	}
	if stored.SystemClass(name) != nil {
		return unchanged(c, old)
	}
	return r.put(ctx, cluster, c, expect)
}

// unchanged lets an update of a built-in class pass that changes nothing.
func unchanged(c, old *schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error) {
	if c.GlobalDefault != old.GlobalDefault || c.Description != old.Description || len(c.Labels) > 0 || len(c.Annotations) > 0 {
		return nil, &ForbiddenError{old.Name, "this is a system priority class and cannot be changed"}
	}
	return old, nil
}

// put writes a class of an expected version.
func (r *Registry) put(ctx context.Context, cluster string, c *schedulingv1.PriorityClass, expect int64) (*schedulingv1.PriorityClass, error) {
	record, err := encode(cluster, c)
	if err != nil {
		return nil, err
	}
	version, err := r.st.PutPriorityClass(ctx, record, expect)
	var taken *store.DefaultTakenError
	switch {
	case errors.As(err, &taken):
		return nil, secondDefault(c.Name, taken.Name)
	case errors.Is(err, store.ErrExists):
		return nil, &ExistsError{c.Name}
	case errors.Is(err, store.ErrConflict):
		return nil, &ConflictError{c.Name}
	case errors.Is(err, store.ErrNotFound):
		return nil, &MissingError{c.Name}
	case err != nil:
		return nil, fmt.Errorf("write priority class: %w", err)
	}
	r.written(ctx, cluster)
	c.ResourceVersion = strconv.FormatInt(version, 10)
	return c, nil
}

func secondDefault(name, first string) error {
	return &ForbiddenError{name, fmt.Sprintf("PriorityClass %s is already marked as default. Only one default can exist", first)}
}

// Delete removes a class and returns what it was. Pods that have its priority
// keep it. The built-in ones are a *ForbiddenError
// (pkg/registry/scheduling/priorityclass/storage Delete).
func (r *Registry) Delete(ctx context.Context, cluster, name string) (*schedulingv1.PriorityClass, error) {
	if stored.SystemClass(name) != nil {
		return nil, &ForbiddenError{name, "this is a system priority class and cannot be deleted"}
	}
	c, err := r.Get(ctx, cluster, name)
	if err != nil {
		return nil, err
	}
	err = r.st.DeletePriorityClass(ctx, cluster, name, 0)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, &MissingError{name}
	case err != nil:
		return nil, fmt.Errorf("delete priority class: %w", err)
	}
	r.written(ctx, cluster)
	return c, nil
}

// Gone forgets a cluster that was deleted.
func (r *Registry) Gone(ctx context.Context, cluster string) { r.written(ctx, cluster) }
