package rest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// ObjectList is a page of a snapshot's objects, by kind, namespace and name.
type ObjectList struct {
	// Items are Kubernetes objects, reduced to what decisions read.
	Items []json.RawMessage `json:"items" swaggertype:"array,object"`
	// Cursor continues the list; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
} // @name ObjectList

// pageSize reads the limit of a list.
func (a *API) pageSize(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return min(100, a.Limits.MaxPage), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, exchange.BadField(http.StatusBadRequest, "limit", "want a number above zero")
	}
	if n > a.Limits.MaxPage {
		e := exchange.BadField(http.StatusBadRequest, "limit", fmt.Sprintf("at most %d items come in a page (max-page)", a.Limits.MaxPage))
		e.Limit = "max-page"
		return 0, e
	}
	return n, nil
}

// objectFilters are the parameters of a list of objects.
var objectFilters = []string{"kind", "namespace", "name", "node", "labelSelector", "owner", "limit", "cursor"}

// listObjects lists what a snapshot holds.
//
//	@Summary		The objects of a revision, by kind, namespace and name
//	@Description	What the filters have in common is listed. The pages of a list, one after the other, can be posted as a snapshot as they are.
//	@Tags			snapshots
//	@Produce		json
//	@Param			id				path	string	true	"cluster@revision or cluster@latest"
//	@Param			kind			query	string	false	"only objects of this kind"
//	@Param			namespace		query	string	false	"only objects in this namespace; with the name of a namespaced kind default if absent"
//	@Param			name			query	string	false	"only the object of this name; kind is needed"
//	@Param			node			query	string	false	"only what belongs to a node: it, its CSINode, its ResourceSlices and the pods on it"
//	@Param			labelSelector	query	string	false	"only objects with labels that it matches, such as app=web,tier!=db"
//	@Param			owner			query	string	false	"only objects with this owner: KIND/NAME, or its UID"
//	@Param			limit			query	int		false	"items in the page, 100 if absent"
//	@Param			cursor			query	string	false	"cursor of the page before"
//	@Success		200	{object}	ObjectList
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/snapshots/{id}/objects [get]
func (a *API) listObjects(w http.ResponseWriter, r *http.Request) error {
	id, err := exchange.PathParam(r, "id")
	if err != nil {
		return err
	}
	return a.writeList(w, r, func(needs bool, namespace string) (*revision.View, error) {
		if revision.IsApart(id) { // whose job is for those who see the whole cluster
			return a.stateOf(r.Context(), "id", id, "")
		}
		name, rev, err := revisionOf("id", id)
		if err != nil {
			return nil, err
		}
		return a.listed(r, name, rev, needs, namespace)
	})
}

// listNewestObjects lists what a cluster holds.
//
//	@Summary		The objects of a cluster's newest revision, by kind, namespace and name
//	@Description	GET /v1/snapshots/{id}/objects of the newest revision, with the same filters.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster			path	string	true	"the cluster"
//	@Param			kind			query	string	false	"only objects of this kind"
//	@Param			namespace		query	string	false	"only objects in this namespace; with the name of a namespaced kind default if absent"
//	@Param			name			query	string	false	"only the object of this name; kind is needed"
//	@Param			node			query	string	false	"only what belongs to a node: it, its CSINode, its ResourceSlices and the pods on it"
//	@Param			labelSelector	query	string	false	"only objects with labels that it matches, such as app=web,tier!=db"
//	@Param			owner			query	string	false	"only objects with this owner: KIND/NAME, or its UID"
//	@Param			limit			query	int		false	"items in the page, 100 if absent"
//	@Param			cursor			query	string	false	"cursor of the page before"
//	@Success		200	{object}	ObjectList
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/objects [get]
func (a *API) listNewestObjects(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	return a.writeList(w, r, func(needs bool, namespace string) (*revision.View, error) {
		return a.listed(r, name, 0, needs, namespace)
	})
}

// listed returns the state of a revision. What has no namespace, and what is in one that is named,
// needs the right there.
func (a *API) listed(r *http.Request, name string, rev int64, needs bool, namespace string) (*revision.View, error) {
	if needs {
		if err := admit.MayPod(r.Context(), access.View, name, namespace); err != nil {
			return nil, err
		}
	}
	return a.view(r.Context(), name, rev)
}

// writeList answers with a page of the objects that the query selects.
func (a *API) writeList(w http.ResponseWriter, r *http.Request, state func(needs bool, namespace string) (*revision.View, error)) error {
	limit, err := a.pageSize(r)
	if err != nil {
		return err
	}
	f, err := objectFilterOf(r.URL.Query())
	if err != nil {
		return err
	}
	after, err := a.objectCursor(r)
	if err != nil {
		return err
	}
	namespaced, _ := object.Namespaced(f.one.Kind)
	v, err := state(f.one.Name != "" || f.one.Namespace != "" || f.one.Kind != "" && !namespaced, f.one.Namespace)
	if err != nil {
		return err
	}
	if f.one.Name != "" {
		list := ObjectList{Items: []json.RawMessage{}}
		if js, ok := v.Object(f.one); ok && (f.where == nil || f.where(js)) {
			list.Items = append(list.Items, js)
		}
		return exchange.WriteJSON(w, http.StatusOK, list)
	}
	list, last, err := page(r.Context(), v, f, after, limit)
	if err != nil {
		return err
	}
	if last != "" {
		list.Cursor = a.sealCursor(r, last)
	}
	return writeObjects(r.Context(), w, &list)
}

// streamed is from how many bytes on a list of objects is written out item by item, without a copy
// of it.
const streamed = 256 << 10

// writeObjects writes the bytes that WriteJSON would write.
func writeObjects(ctx context.Context, w http.ResponseWriter, list *ObjectList) error {
	size := 0
	for _, item := range list.Items {
		size += len(item)
	}
	if size < streamed {
		if err := exchange.TakeAnswer(ctx, len(list.Items), size); err != nil {
			return err
		}
		return exchange.WriteJSON(w, http.StatusOK, list)
	}
	tail, err := json.Marshal(ObjectList{Items: []json.RawMessage{}, Cursor: list.Cursor})
	if err != nil {
		return exchange.Internal(err)
	}
	const head = `{"items":[`
	part := exchange.Encoding(w)
	defer part.End(nil)
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.WriteString(head)
	for i, item := range list.Items {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		if err := escape(out, item); err != nil {
			return nil // the caller is gone
		}
	}
	_, _ = out.Write(append(tail[len(head):], '\n'))
	_ = out.Flush()
	return nil
}

// escape writes compact JSON as json.Marshal writes a json.RawMessage.
func escape(out *bufio.Writer, js []byte) error {
	var buf bytes.Buffer
	for len(js) > 0 {
		n := min(len(js), 16<<10)
		for n < len(js) && js[n] >= utf8.RuneSelf {
			n++ // U+2028 is escaped as a whole
		}
		buf.Reset()
		json.HTMLEscape(&buf, js[:n])
		if _, err := out.Write(buf.Bytes()); err != nil {
			return err
		}
		js = js[n:]
	}
	return nil
}

// page collects up to limit objects behind after, of one kind or of all in turn. last names the
// last one where there are more.
func page(ctx context.Context, v *revision.View, f *objectFilter, after object.Key, limit int) (list ObjectList, last string, err error) {
	kinds := []string{f.one.Kind}
	if f.one.Kind == "" {
		kinds = slices.Sorted(maps.Keys(v.Summary.Objects))
	}
	list.Items = []json.RawMessage{}
	for i, k := range kinds {
		if k < after.Kind {
			continue
		}
		from := object.Key{Kind: k}
		if k == after.Kind {
			from = after
		}
		seen := func(ns string) bool {
			return (f.one.Namespace == "" || ns == f.one.Namespace) && admit.Sees(ctx, v.Cluster, ns)
		}
		items, more, err := v.ListWhere(ctx, k, from, limit-len(list.Items), seen, f.where)
		if err != nil {
			return list, "", err
		}
		for _, item := range items {
			list.Items = append(list.Items, item)
		}
		if len(list.Items) < limit {
			continue
		}
		if more || slices.ContainsFunc(kinds[i+1:], func(k string) bool { return v.Summary.Objects[k] > 0 }) {
			last = objectName(k, list.Items[len(list.Items)-1])
		}
		break
	}
	return list, last, nil
}

// objectFilter is which objects a list is of.
type objectFilter struct {
	one   object.Key           // as far as it is set
	where func(js []byte) bool // nil: all
}

// objectFilterOf reads the filters of a list of objects.
func objectFilterOf(q url.Values) (*objectFilter, error) {
	f := &objectFilter{one: object.Key{Kind: q.Get("kind"), Namespace: q.Get("namespace"), Name: q.Get("name")}}
	namespaced, known := object.Namespaced(f.one.Kind)
	switch {
	case f.one.Kind != "" && !known:
		return nil, exchange.BadField(http.StatusBadRequest, "kind", fmt.Sprintf("%.60q is no kind that snapshots hold", f.one.Kind))
	case f.one.Name != "" && f.one.Kind == "":
		return nil, exchange.BadField(http.StatusBadRequest, "kind", "the kind of the object is needed beside its name")
	case known && !namespaced && f.one.Namespace != "" && f.one.Name == "":
		return nil, exchange.BadField(http.StatusBadRequest, "namespace", fmt.Sprintf("objects of kind %s are in none", f.one.Kind))
	case namespaced && f.one.Name != "" && f.one.Namespace == "":
		f.one.Namespace = corev1.NamespaceDefault
	}
	var all []func(js []byte) bool
	if node := q.Get("node"); node != "" {
		all = append(all, func(js []byte) bool { return object.NodeOf(js) == node })
	}
	if text := q.Get("labelSelector"); text != "" {
		s, err := labels.Parse(text)
		if err != nil || strings.ContainsRune(text, 0) { // which Parse passes over at the end of a word
			return nil, exchange.BadField(http.StatusBadRequest, "labelSelector", fmt.Sprintf("no label selector such as app=web,tier!=db: %.200v", err))
		}
		all = append(all, func(js []byte) bool { return s.Matches(object.LabelsOf(js)) })
	}
	if owner := q.Get("owner"); owner != "" {
		all = append(all, func(js []byte) bool { return object.OwnedBy(js, owner) })
	}
	if len(all) > 0 {
		f.where = func(js []byte) bool {
			return !slices.ContainsFunc(all, func(is func([]byte) bool) bool { return !is(js) })
		}
	}
	return f, nil
}

// objectName names an object of a page.
func objectName(kind string, item []byte) string {
	var o struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(item, &o) // it is ours
	return kind + "/" + o.Metadata.Namespace + "/" + o.Metadata.Name
}

// objectCursor returns the object that the request goes on behind.
func (a *API) objectCursor(r *http.Request) (k object.Key, err error) {
	text, err := a.openCursor(r)
	if err != nil || text == "" {
		return k, err
	}
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return k, badCursor()
	}
	return object.Key{Kind: parts[0], Namespace: parts[1], Name: parts[2]}, nil
}
