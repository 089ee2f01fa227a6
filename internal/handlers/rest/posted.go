package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
	"berth/internal/steps"
)

// The values of fieldValidation, which are Kubernetes' own (apimachinery
// pkg/apis/meta/v1, FieldValidationStrict and so on).
const (
	fieldsStrict = "Strict"
	fieldsWarn   = "Warn"
	fieldsIgnore = "Ignore"
)

// fieldValidation is the query parameter that describes what becomes of fields that a Kubernetes
// object's type does not have.
const fieldValidation = "fieldValidation"

// posted judges the Kubernetes objects of one request before they are decoded, and collects what is
// to be said of them.
type posted struct {
	mode     string
	limits   object.Limits
	pods     *object.RequestPods
	warned   *apiserver.WarningCache
	warnings []string
	steps    *steps.Counter
	// replicas is set where pods of workloads are replicated, each with claims of its own.
	replicas bool
}

// fieldMode reads the query parameter.
func fieldMode(r *http.Request, fallback string) (string, error) {
	if r.URL.RawQuery == "" {
		return fallback, nil
	}
	switch mode := r.URL.Query().Get(fieldValidation); mode {
	case "":
		return fallback, nil
	case fieldsStrict, fieldsWarn, fieldsIgnore:
		return mode, nil
	}
	return "", exchange.BadField(http.StatusBadRequest, fieldValidation, "want Strict, Warn or Ignore")
}

// postedBody reads a body of at most decision-max-bytes, and begins its request.
func (a *API) postedBody(w http.ResponseWriter, r *http.Request) ([]byte, *posted, error) {
	body, err := a.JSONBody(w, r, a.Limits.DecisionMaxBytes, "decision-max-bytes")
	if err != nil {
		return nil, nil, err
	}
	p, err := a.posted(r)
	return body, p, err
}

// readPosted reads such a body of objects into v, strictly, and begins its request.
func (a *API) readPosted(w http.ResponseWriter, r *http.Request, v any) (*posted, error) {
	body, err := a.JSONBody(w, r, a.Limits.DecisionMaxBytes, "decision-max-bytes")
	if err != nil {
		return nil, err
	}
	return a.decodePosted(r, body, v, exchange.DecisionBounds(&a.Limits))
}

// decodePosted decodes a body of objects into v, strictly, and begins its request.
func (a *API) decodePosted(r *http.Request, body []byte, v any, b exchange.JSONBounds) (*posted, error) {
	if err := exchange.DecodePart(r, body, v, b); err != nil {
		return nil, err
	}
	return a.posted(r)
}

// posted begins a request whose objects are posted one by one, so that Strict is the default.
func (a *API) posted(r *http.Request) (*posted, error) {
	mode, err := fieldMode(r, fieldsStrict)
	return &posted{mode: mode, limits: a.Limits.Objects(), pods: a.pods, warned: &a.warned, steps: steps.Of(r.Context())}, err
}

// fields judges the fields of an object; kind is what it is where it does not say. at is its place
// in the body.
func (p *posted) fields(at string, raw json.RawMessage, kind string) error {
	if err := p.steps.Take(len(raw)); err != nil {
		return err
	}
	if p.mode == fieldsIgnore || exchange.IsNull(raw) {
		return nil
	}
	list, total := object.Unknown(raw, kind)
	switch {
	case total == 0:
		return nil
	case p.mode == fieldsStrict:
		return p.refusal(at, list, total)
	}
	for _, u := range list {
		p.warnings = append(p.warnings, within(at, u.Path)+": "+u.Message())
	}
	p.warnings[len(p.warnings)-1] += furtherOnes(total - len(list))
	return nil
}

// within is a path in the object at a place of the body.
func within(at, path string) string {
	if at == "" {
		return path
	}
	return at + "." + path
}

func furtherOnes(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// refusal names the unknown fields of an object.
func (p *posted) refusal(at string, list []object.UnknownField, total int) error {
	e := &exchange.Error{Status: http.StatusBadRequest, Kind: "unknown-field"}
	var said []string
	for _, u := range list {
		f := exchange.FieldError{Field: within(at, u.Path), Type: string(field.ErrorTypeForbidden), Message: u.Message()}
		e.Fields = append(e.Fields, f)
		said = append(said, f.Field+": "+f.Message)
	}
	e.Detail = strings.Join(said, "; ") + furtherOnes(total-len(list)) + " - ?fieldValidation=Warn lets fields pass that Kubernetes v1.36 does not have"
	return e
}

// object judges and decodes an object of any kept kind.
func (p *posted) object(at string, raw json.RawMessage) (object.Object, error) {
	if err := p.fields(at, raw, ""); err != nil {
		return object.Object{}, err
	}
	o, err := object.Decode(raw, p.limits)
	return o, exchange.InField(at, err)
}

// pod judges the pod of a request. Of a workload it returns the pod that its controller would make,
// and that pod's place.
func (p *posted) pod(at string, raw json.RawMessage) (string, json.RawMessage, error) {
	if exchange.IsNull(raw) || raw[0] != '{' {
		return at, raw, nil // the decoder says so
	}
	if err := p.fields(at, raw, "Pod"); err != nil {
		return at, raw, err
	}
	podOf := object.PodOf
	if p.replicas {
		podOf = object.ReplicaOf
	}
	w, err := podOf(raw, p.limits)
	if err != nil || w == nil {
		return at, raw, exchange.InField(at, err)
	}
	for _, note := range w.Notes {
		p.warnings = append(p.warnings, at+": "+note)
	}
	return at + "." + w.Template, w.Pod, nil
}

// The bounds of the headers of an answer, which are those of an API server but for their number
// (apiserver/pkg/endpoints/filters warning.go): the body has all warnings.
const (
	maxWarningHeaders   = 20
	maxWarningRunes     = 4 << 10 // of all headers
	maxLongWarningRunes = 256     // of each where all are more
)

// warn writes the warnings as headers, as an API server does (RFC 7234, code 299), and gives them
// for the answer's body.
func (p *posted) warn(w http.ResponseWriter) []string {
	total, written := 0, 0
	for _, text := range p.warnings {
		total += utf8.RuneCountInString(text)
	}
	for i, text := range p.warnings {
		if i == maxWarningHeaders || written >= maxWarningRunes {
			break
		}
		if runes := []rune(text); total > maxWarningRunes && len(runes) > maxLongWarningRunes {
			text = string(runes[:maxLongWarningRunes])
		}
		written += utf8.RuneCountInString(text)
		w.Header().Add("Warning", fmt.Sprintf(`299 - %q`, text))
	}
	return p.warnings
}
