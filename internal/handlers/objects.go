package handlers

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/objects"
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
		return min(100, a.limits.MaxPage), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, badField(http.StatusBadRequest, "limit", "want a number above zero")
	}
	if n > a.limits.MaxPage {
		e := badField(http.StatusBadRequest, "limit", fmt.Sprintf("at most %d items come in a page (max-page)", a.limits.MaxPage))
		e.Limit = "max-page"
		return 0, e
	}
	return n, nil
}

// listObjects lists what a snapshot holds.
//
//	@Summary	The objects of a revision, by kind, namespace and name
//	@Tags		snapshots
//	@Produce	json
//	@Param		id		path		string	true	"cluster@revision or cluster@latest"
//	@Param		kind	query		string	false	"only objects of this kind"
//	@Param		namespace	query	string	false	"with name: the object's namespace; default if absent"
//	@Param		name	query		string	false	"only the object of this name; kind is needed"
//	@Param		limit	query		int		false	"items in the page, 100 if absent"
//	@Param		cursor	query		string	false	"cursor of the page before"
//	@Success	200		{object}	ObjectList
//	@Failure	400,404,429,500,503	{object}	Problem
//	@Router		/v1/snapshots/{id}/objects [get]
func (a *API) listObjects(w http.ResponseWriter, r *http.Request) error {
	name, revision, err := snapshotID(r)
	if err != nil {
		return err
	}
	limit, err := a.pageSize(r)
	if err != nil {
		return err
	}
	kind := r.URL.Query().Get("kind")
	if _, known := objects.Namespaced(kind); kind != "" && !known {
		return badField(http.StatusBadRequest, "kind", fmt.Sprintf("%.60q is no kind that snapshots hold", kind))
	}
	one := objects.Key{Kind: kind, Namespace: r.URL.Query().Get("namespace"), Name: r.URL.Query().Get("name")}
	switch {
	case one.Name == "" && one.Namespace != "":
		return badField(http.StatusBadRequest, "namespace", "it is only read together with name")
	case one.Name != "" && kind == "":
		return badField(http.StatusBadRequest, "kind", "the kind of the object is needed beside its name")
	}
	if namespaced, _ := objects.Namespaced(kind); namespaced && one.Name != "" && one.Namespace == "" {
		one.Namespace = corev1.NamespaceDefault
	}
	after, err := parseObjectCursor(r.URL.Query().Get("cursor"))
	if err != nil {
		return err
	}
	v, err := a.clusters.View(r.Context(), name, revision)
	if err != nil {
		return err
	}
	if one.Name != "" {
		list := ObjectList{Items: []json.RawMessage{}}
		if js, ok := v.Object(one); ok {
			list.Items = append(list.Items, js)
		}
		return writeJSON(w, http.StatusOK, list)
	}
	list := page(v, kind, after, limit)
	size := 0
	for _, item := range list.Items {
		size += len(item)
	}
	if err := takeAnswer(r.Context(), len(list.Items), size); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, list)
}

// page collects up to limit objects behind after, of one kind or of all in turn.
func page(v *cluster.View, kind string, after objects.Key, limit int) ObjectList {
	kinds := []string{kind}
	if kind == "" {
		kinds = slices.Sorted(maps.Keys(v.Summary.Objects))
	}
	list := ObjectList{Items: []json.RawMessage{}}
	for i, k := range kinds {
		if k < after.Kind {
			continue
		}
		from := objects.Key{Kind: k}
		if k == after.Kind {
			from = after
		}
		items, more := v.List(k, from, limit-len(list.Items))
		for _, item := range items {
			list.Items = append(list.Items, item)
		}
		if len(list.Items) < limit {
			continue
		}
		if more || slices.ContainsFunc(kinds[i+1:], func(k string) bool { return v.Summary.Objects[k] > 0 }) {
			list.Cursor = objectCursor(k, list.Items[len(list.Items)-1])
		}
		break
	}
	return list
}

// objectCursor names the last object of a page.
func objectCursor(kind string, item []byte) string {
	var o struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(item, &o) // it is ours
	return base64.RawURLEncoding.EncodeToString([]byte(kind + "/" + o.Metadata.Namespace + "/" + o.Metadata.Name))
}

func parseObjectCursor(s string) (k objects.Key, err error) {
	if s == "" {
		return k, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.Split(string(text), "/")
	if err != nil || len(parts) != 3 || parts[0] == "" {
		return k, badField(http.StatusBadRequest, "cursor", "it is not one of this list")
	}
	return objects.Key{Kind: parts[0], Namespace: parts[1], Name: parts[2]}, nil
}
