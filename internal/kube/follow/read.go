package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"berth/internal/kube/object"
)

// Unread is a kind that could not be listed, or the objects of a kind that were
// left out because they are invalid.
type Unread struct {
	Kind string
	// Invalid counts the objects that were left out; 0: the kind was not listed.
	Invalid int
	// Err is the reason; of several invalid objects it is that of the first.
	Err error
}

// page is how many objects are asked for at once, as kubectl does
// (kubectl/pkg/cmd/util helpers.go DefaultChunkSize).
const page = 500

// admission are the kinds that an API server applies to a pod before it is decided on: an answer
// about a pod that is not there yet notes that they are not applied.
var admission = []string{"RuntimeClass", "LimitRange", "ResourceQuota"}

// Read lists every kind of Kinds that decisions or admission read once and yields each object in
// the form that decisions read. It asks only for lists, with verb list. A kind that may not be
// listed, or that the cluster does not serve, is in unread; Nodes and Pods are not optional, and
// their absence is an error. A group that is not served everywhere (Optional) may be missing
// without being in unread. An error of yield ends the reading.
func Read(ctx context.Context, c *rest.Config, yield func(object.Object) error) (unread []Unread, err error) {
	h, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	defer h.CloseIdleConnections()
	for _, k := range kinds {
		if object.ReadLater(k.Kind) && !slices.Contains(admission, k.Kind) {
			continue // no decision reads them
		}
		var invalid Unread
		err := served(c, k, h, func(r rest.Interface, k Kind) (err error) {
			invalid, err = readKind(ctx, r, k, yield)
			return err
		})
		switch {
		case err == nil && invalid.Invalid > 0:
			unread = append(unread, invalid)
		case err == nil, k.Optional && apierrors.IsNotFound(err):
		case k.Kind != "Node" && k.Kind != "Pod" && refused(err):
			unread = append(unread, Unread{Kind: k.Kind, Err: err})
		default:
			return nil, fmt.Errorf("list %s: %w", k.Resource, err)
		}
	}
	return unread, nil
}

// served calls f with a kind in each of its versions, newest first, until the cluster serves it.
func served(c *rest.Config, k Kind, h *http.Client, f func(rest.Interface, Kind) error) (err error) {
	for _, k := range k.versions() {
		r, no := clientOver(c, k.Group, h)
		if no != nil {
			return no
		}
		if err = f(r, k); !apierrors.IsNotFound(err) {
			return err
		}
	}
	return err
}

func refused(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) }

// Whole lists the objects of a kind, of one namespace unless it is empty and of one name unless it
// is empty, as their apiserver has them: nothing is left out that Kubernetes v1.37 knows.
func Whole(ctx context.Context, c *rest.Config, kind, namespace, name string, yield func(js []byte) error) error {
	h, err := rest.HTTPClientFor(c)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	defer h.CloseIdleConnections()
	at := slices.IndexFunc(kinds, func(k Kind) bool { return k.Kind == kind })
	if at < 0 {
		return fmt.Errorf("%s is not a kind that is read", kind)
	}
	k := kinds[at]
	o := metav1.ListOptions{}
	if name != "" {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}
	err = served(c, k, h, func(r rest.Interface, k Kind) error {
		return eachOf(ctx, r, k, namespace, o, func(obj runtime.Object) error {
			obj.GetObjectKind().SetGroupVersionKind(k.Group.WithKind(k.Kind))
			js, err := json.Marshal(obj)
			if err != nil {
				return err
			}
			return yield(js)
		})
	})
	if err != nil {
		return fmt.Errorf("list %s: %w", k.Resource, err)
	}
	return nil
}

// readKind lists one kind. Invalid objects are left out and counted.
func readKind(ctx context.Context, r rest.Interface, k Kind, yield func(object.Object) error) (Unread, error) {
	from := &kindStore{kind: k}
	invalid := Unread{Kind: k.Kind}
	err := eachOf(ctx, r, k, "", metav1.ListOptions{}, func(obj runtime.Object) error {
		_, read, err := from.read(obj)
		if err != nil {
			if invalid.Invalid++; invalid.Err == nil {
				invalid.Err = err
			}
			return nil
		}
		return yield(read)
	})
	return invalid, err
}

// eachOf lists one kind page by page. A list whose continue token has expired
// goes on with the token that the apiserver offers for that: it is then of two
// moments, as client-go's own pager allows (client-go/tools/pager pager.go).
func eachOf(ctx context.Context, r rest.Interface, k Kind, namespace string, o metav1.ListOptions, each func(runtime.Object) error) error {
	params := runtime.NewParameterCodec(scheme)
	o.Limit = page
	for {
		list, err := r.Get().Resource(k.Resource).NamespaceIfScoped(namespace, namespace != "").VersionedParams(&o, params).Do(ctx).Get()
		if next := expired(err); next != "" && next != o.Continue {
			o.Continue = next
			continue
		}
		if err != nil {
			return err
		}
		if err := meta.EachListItem(list, each); err != nil {
			return err
		}
		head, err := meta.ListAccessor(list)
		if err != nil {
			return err
		}
		if o.Continue = head.GetContinue(); o.Continue == "" {
			return nil
		}
	}
}

// expired returns the token that an apiserver offers with 410 in place of one that is too old.
func expired(err error) string {
	var status apierrors.APIStatus
	if apierrors.IsResourceExpired(err) && errors.As(err, &status) {
		return status.Status().Continue
	}
	return ""
}
