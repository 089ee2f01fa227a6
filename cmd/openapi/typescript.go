package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// typescript returns the description's schemas as types of TypeScript. Values of answers may be
// others than those that are named: a later release has more.
func typescript(doc *openapi3.T) ([]byte, error) {
	var w strings.Builder
	w.WriteString("// Written by cmd/openapi from the handlers' annotations; do not edit.\n\n")
	w.WriteString("/** A Kubernetes object, or what else is an object of any fields. */\n")
	w.WriteString("export type Fields = { [field: string]: any };\n")
	of := map[string]string{}
	for _, schema := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		name := typeName(schema)
		if other := of[name]; other != "" {
			return nil, fmt.Errorf("the schemas %s and %s are both %s in TypeScript", other, schema, name)
		}
		of[name] = schema
		t := types{open: !strings.HasSuffix(name, "Request")}
		s := doc.Components.Schemas[schema].Value
		w.WriteString("\n" + comment(s.Description, "") + "export type " + name + " = " + t.of(doc.Components.Schemas[schema], "") + ";\n")
	}
	return []byte(w.String()), nil
}

// typeName returns the name of a schema's type: EngineVictim for engine.Victim.
func typeName(schema string) string {
	var name strings.Builder
	for part := range strings.SplitSeq(schema, ".") {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

// comment returns a description as a comment; without one it is empty.
func comment(text, indent string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "*/", "* /")), " ")
	if text == "" {
		return ""
	}
	return indent + "/** " + text + " */\n"
}

// types writes types; open: texts may be others than those of an enum.
type types struct{ open bool }

func (t types) of(ref *openapi3.SchemaRef, indent string) string {
	if ref == nil || ref.Value == nil {
		return "unknown"
	}
	if name, is := strings.CutPrefix(ref.Ref, "#/components/schemas/"); is {
		return typeName(name)
	}
	s := ref.Value
	out := t.plain(s, indent)
	if s.Nullable {
		out += " | null"
	}
	return out
}

// plain returns the type of a schema, but for null.
func (t types) plain(s *openapi3.Schema, indent string) string {
	switch {
	case len(s.Enum) > 0:
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = strconv.Quote(fmt.Sprint(v))
		}
		if t.open {
			values = append(values, "(string & {})")
		}
		return strings.Join(values, " | ")
	case len(s.AllOf) > 0:
		return t.joined(s.AllOf, " & ", indent)
	case len(s.OneOf) > 0:
		return t.joined(s.OneOf, " | ", indent)
	case s.Type.Is("string"):
		return "string"
	case s.Type.Is("integer"), s.Type.Is("number"):
		return "number"
	case s.Type.Is("boolean"):
		return "boolean"
	case s.Type.Is("array"):
		return "Array<" + t.of(s.Items, indent) + ">"
	case !s.Type.Is("object"):
		return "unknown"
	case len(s.Properties) > 0:
		return t.object(s, indent)
	case s.AdditionalProperties.Schema != nil:
		return "{ [key: string]: " + t.of(s.AdditionalProperties.Schema, indent) + " }"
	}
	return "Fields"
}

func (t types) joined(list openapi3.SchemaRefs, by, indent string) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = t.of(s, indent)
	}
	return strings.Join(parts, by)
}

func (t types) object(s *openapi3.Schema, indent string) string {
	var w strings.Builder
	w.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if p.Ref == "" {
			w.WriteString(comment(p.Value.Description, indent+"  "))
		}
		optional := "?"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		w.WriteString(indent + "  " + strconv.Quote(name) + optional + ": " + t.of(p, indent+"  ") + ";\n")
	}
	return w.String() + indent + "}"
}
