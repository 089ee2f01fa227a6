package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"berth/internal/handlers/limits"
	"berth/internal/jsonscan"
	"berth/internal/kube/object"
	"berth/internal/span"
	"berth/internal/words"
)

// JSONBounds are the bounds of a JSON body of ours and the settings they come from.
type JSONBounds struct {
	depth, tokens              int
	depthSetting, tokenSetting string
}

// DecodePart is DecodeStrict as a part of a request's trace.
func DecodePart(r *http.Request, body []byte, v any, b JSONBounds) error {
	return span.Do(r.Context(), span.Decode, func(context.Context) error { return DecodeStrict(body, v, b) })
}

// DecodeStrict decodes the one JSON object of a body into v. A field that v does not have, or has
// twice, is an error that names it; raw fields are left to their own decoders. Keys are compared
// exactly.
func DecodeStrict(body []byte, v any, b JSONBounds) error {
	if err := b.check(body); err != nil {
		return err
	}
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) == 0 {
		return BadRequest("the body is empty; want a JSON object")
	}
	if trimmed[0] != '{' {
		return BadRequest(notJSON(trimmed))
	}
	strict, err := kjson.UnmarshalStrict(body, v, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields)
	if err != nil {
		return MisfitError(nil, body, v, err)
	}
	if len(strict) == 0 {
		return nil
	}
	if bare := bareObject(body, v); bare != nil {
		return bare
	}
	e := &Error{Status: http.StatusBadRequest, Kind: "unknown-field"}
	list, _ := object.UnknownFields(body, v)
	for _, u := range list {
		e.Fields = append(e.Fields, FieldError{u.Path, string(field.ErrorTypeForbidden), u.Message()})
		if e.Detail != "" {
			e.Detail += "; "
		}
		what, hint, _ := strings.Cut(u.Message(), ": ")
		e.Detail += fmt.Sprintf("%s %q", what, u.Path)
		if hint != "" {
			e.Detail += ": " + hint
		}
	}
	return e
}

// DecodeKubernetes decodes the one JSON object of a body as an API server does: keys are compared
// exactly, unknown ones are passed over.
func DecodeKubernetes(body []byte, v any, b JSONBounds) error {
	if err := b.check(body); err != nil {
		return err
	}
	if i := firstByte(body); i < 0 || body[i] != '{' {
		return BadRequest(notJSON(body[max(i, 0):]))
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, v); err != nil {
		return MisfitError(nil, body, v, err)
	}
	return nil
}

func firstByte(body []byte) int {
	for i, c := range body {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return i
		}
	}
	return -1
}

// WantKind lets an object pass that says it is of this kind, or does not say.
func WantKind(t metav1.TypeMeta, kind, apiVersion string) error {
	switch {
	case t.Kind != "" && t.Kind != kind && kind == "Pod":
		message := fmt.Sprintf("want Pod or a kind that makes pods (%s), not %.60q", strings.Join(object.WorkloadKinds(), ", "), t.Kind)
		_, known := object.Namespaced(t.Kind)
		if near, ok := words.Nearest(t.Kind, object.PodKinds()); ok && !known {
			message += ": did you mean " + near + "?"
		}
		return BadField(http.StatusBadRequest, "kind", message)
	case t.Kind != "" && t.Kind != kind:
		return BadField(http.StatusBadRequest, "kind", fmt.Sprintf("want %s, not %.60q", kind, t.Kind))
	case t.APIVersion != "" && t.APIVersion != apiVersion:
		return BadField(http.StatusBadRequest, "apiVersion", fmt.Sprintf("want %s, not %.60q", apiVersion, t.APIVersion))
	}
	return nil
}

// bareObject refuses a Kubernetes object that is the body itself, where the request has a field for
// it.
func bareObject(body []byte, v any) error {
	var given struct {
		APIVersion, Kind string
		Metadata         json.RawMessage
		Spec             json.RawMessage
	}
	if json.Unmarshal(body, &given) != nil || given.Kind == "" || IsNull(given.Metadata) && IsNull(given.Spec) {
		return nil
	}
	t := reflect.TypeOf(v).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		form := map[string]string{"pod": `{"pod": {…}}`, "apply": `{"apply": [{…}]}`}[name]
		if form == "" {
			continue
		}
		message := fmt.Sprintf("the body is itself an object of kind %.60q: it belongs into the field %s, as in %s", given.Kind, name, form)
		return &Error{
			Status: http.StatusBadRequest, Kind: "unknown-field", Detail: name + ": " + message,
			Fields: []FieldError{{name, string(field.ErrorTypeRequired), message}},
		}
	}
	return nil
}

// decodeError words what encoding/json has against a body, without a word of the body.
func decodeError(err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typed):
		name := typed.Field
		if name == "" {
			name = "body"
		}
		message := fmt.Sprintf("want %s, not %s", jsonKind(typed.Type), withArticle(typed.Value))
		return &Error{
			Status: http.StatusBadRequest, Kind: "malformed", Detail: name + ": " + message,
			Fields: []FieldError{{name, string(field.ErrorTypeTypeInvalid), message}},
		}
	case errors.As(err, &syntax):
		return BadRequest(fmt.Sprintf("malformed JSON at byte %d: %s", syntax.Offset, syntax.Error()))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return BadRequest("malformed JSON: it ends too early")
	}
	return &Error{Status: http.StatusBadRequest, Kind: "malformed", Detail: "malformed JSON: " + err.Error()}
}

// withArticle names a value as encoding/json calls it, such as array or number 1.5.
func withArticle(value string) string {
	if value == "array" || value == "object" {
		return "an " + value
	}
	return "a " + value
}

// jsonKind says in JSON's words what a Go type is written as.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKind(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Struct, reflect.Map, reflect.Interface:
		return "an object"
	}
	return "an integer"
}

// check walks over the body once and counts, before anything is built from it. What is no JSON is
// left to the decoder, which builds nothing of it.
func (b JSONBounds) check(body []byte) error {
	var s jsonscan.Scanner
	s.Reset(body, jsonscan.Limits{Depth: b.depth, Tokens: b.tokens})
	limit, exceeded := errors.AsType[*jsonscan.LimitError](s.Skip())
	switch {
	case !exceeded:
		return nil
	case limit.Limit == "tokens":
		return TooLarge(b.tokenSetting, fmt.Sprintf("the body has more keys and values than the limit %s=%d", b.tokenSetting, b.tokens))
	}
	return TooLarge(b.depthSetting, fmt.Sprintf("the body nests deeper than the limit %s=%d at byte %d", b.depthSetting, b.depth, limit.Offset))
}

// DecisionBounds are those of the bodies of decisions.
func DecisionBounds(l *limits.Limits) JSONBounds {
	return JSONBounds{l.MaxDepth, l.DecisionMaxTokens, "max-json-depth", "decision-max-tokens"}
}

// ChangesBounds are those of the bodies of changes.
func ChangesBounds(l *limits.Limits) JSONBounds {
	return JSONBounds{l.MaxDepth, l.ChangesMaxTokens, "max-json-depth", "changes-max-tokens"}
}

// IsNull reports whether a value of JSON is absent or null.
func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// notJSON words a body that is no JSON object; one that looks like YAML needs its media type.
func notJSON(body []byte) string {
	const message = "the body is not a JSON object"
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return message + ": it begins with a byte order mark; want UTF-8 without one"
	case bytes.HasPrefix(body, []byte("\xff\xfe")), bytes.HasPrefix(body, []byte("\xfe\xff")):
		return message + ": it is UTF-16; want UTF-8"
	}
	line, _, _ := bytes.Cut(body, []byte("\n"))
	key, _, _ := bytes.Cut(line, []byte(":"))
	switch {
	case bytes.HasPrefix(line, []byte("---")), bytes.HasPrefix(line, []byte("#")), bytes.HasPrefix(line, []byte("%YAML")):
	case len(key) < len(line) && len(key) > 0 && bytes.IndexFunc(key, notOfName) < 0:
	default:
		return message
	}
	return message + "; for YAML send Content-Type: application/yaml"
}

func notOfName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// ScenarioBounds are those of the bodies of questions about what comes next.
func ScenarioBounds(l *limits.Limits) JSONBounds {
	return JSONBounds{l.MaxDepth, l.ScenarioMaxTokens, "max-json-depth", "scenario-max-tokens"}
}
