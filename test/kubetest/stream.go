package kubetest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Stream makes the server give lists over watches, as apiservers of our day do.
// Whole, if it is not nil, is called before a list is said to be whole.
func (s *Server) Stream(whole func(resource string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams, s.whole = true, whole
}

// Tell has the watches of a resource told something, whatever it is; the objects
// stay as they are.
func (s *Server) Tell(resource, kind, object string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	s.tell(change{s.revision, resource, kind, json.RawMessage(object), time.Now()})
}

// stream sends a list as events and returns the version at which a watch resumes.
func (s *Server) stream(w http.ResponseWriter, encoder *json.Encoder, resource string) (from int64, ok bool) {
	s.mu.Lock()
	streams, whole := s.streams, s.whole
	if !streams {
		s.mu.Unlock()
		fail(w, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)) // streaming lists are not had everywhere
		return 0, false
	}
	s.lists[resource]++
	from = s.revision
	list := make([]json.RawMessage, 0, len(s.objects[resource]))
	for _, js := range s.objects[resource] {
		list = append(list, js)
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for _, js := range list {
		if encoder.Encode(map[string]any{"type": "ADDED", "object": js}) != nil {
			return 0, false
		}
	}
	w.(http.Flusher).Flush()
	if whole != nil {
		whole(resource)
	}
	of := emptyLists[resource]
	mark := map[string]any{
		"kind": strings.TrimSuffix(of.kind, "List"), "apiVersion": of.version,
		"metadata": map[string]any{"resourceVersion": strconv.FormatInt(from, 10), "annotations": map[string]string{metav1.InitialEventsAnnotationKey: "true"}},
	}
	return from, encoder.Encode(map[string]any{"type": "BOOKMARK", "object": mark}) == nil
}
