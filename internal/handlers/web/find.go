package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"berth/internal/handlers/rest"
	"berth/internal/report"
)

// elsewhere is an error that leads to another page.
type elsewhere struct{ address string }

// Error implements error.
func (e *elsewhere) Error() string { return "see " + e.address }

// loadFound leads to what the search names: a decision by its id, a pod by namespace/name, or by
// its name alone where one of that name waits or is on record.
func loadFound(v *visit) (string, any, error) {
	f := frame{visit: v}
	text := strings.TrimSpace(strings.TrimLeft(v.query.Get("q"), " /")) // people type the key that leads here
	if uuid.Validate(text) == nil {
		return "", nil, &elsewhere{f.To("decisions", strings.ToLower(text))}
	}
	text = strings.TrimPrefix(text, "pod/")
	if namespace, name, both := strings.Cut(text, "/"); both && namespace != "" && name != "" {
		return "", nil, &elsewhere{f.To("pods", namespace, name)}
	}
	if text == "" || v.cluster == "" {
		return "", nil, &elsewhere{f.To()}
	}
	waiting := &report.Queue{}
	if err := v.get(v.ofCluster([]string{"queue"}, "snapshot"), waiting); err != nil {
		return "", nil, err
	}
	for _, p := range waiting.Active {
		if p.Name == text {
			return "", nil, &elsewhere{f.To("pods", p.Namespace, p.Name)}
		}
	}
	list := &rest.DecisionList{}
	if err := v.get("/v1/decisions?"+url.Values{"cluster": {v.cluster}, "pod": {text}, "limit": {"1"}}.Encode(), list); err != nil {
		return "", nil, err
	}
	if len(list.Items) > 0 {
		return "", nil, &elsewhere{f.To("pods", list.Items[0].Pod.Namespace, text)}
	}
	return "", nil, &problem{
		Status: http.StatusNotFound, Title: "Not found",
		Detail: "no pod named " + text + " waits in " + v.cluster + " or is on record there; with its namespace, as namespace/name, its page is found wherever it is",
	}
}
