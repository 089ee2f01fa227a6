package record_test

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// leaf is a place in a kind of object where a text may stand.
type leaf struct {
	kind, path string
	// plant puts a text there, into an object of the kind.
	plant func(v reflect.Value, text string)
}

// leaves finds every such place of a type by reflection, so that a field that a
// newer API brings is there too.
func leaves(t reflect.Type, path string, above map[reflect.Type]int) (out []leaf) {
	one := func(plant func(v reflect.Value, text string)) []leaf { return []leaf{{path: path, plant: plant}} }
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](), reflect.TypeFor[metav1.Duration]():
		return nil // their texts are parsed, and hold no others
	case reflect.TypeFor[intstr.IntOrString]():
		return one(func(v reflect.Value, text string) { v.Set(reflect.ValueOf(intstr.FromString(text))) })
	case reflect.TypeFor[metav1.FieldsV1]():
		return one(func(v reflect.Value, text string) {
			v.Set(reflect.ValueOf(*metav1.NewFieldsV1(fmt.Sprintf(`{"f:%s":{}}`, text))))
		})
	case reflect.TypeFor[runtime.RawExtension]():
		return one(func(v reflect.Value, text string) {
			v.Set(reflect.ValueOf(runtime.RawExtension{Raw: fmt.Appendf(nil, `{"a":%q}`, text)}))
		})
	}
	switch t.Kind() {
	case reflect.String:
		return one(func(v reflect.Value, text string) { v.SetString(text) })
	case reflect.Pointer:
		for _, l := range leaves(t.Elem(), path, above) {
			plant := l.plant
			l.plant = func(v reflect.Value, text string) {
				if v.IsNil() {
					v.Set(reflect.New(t.Elem()))
				}
				plant(v.Elem(), text)
			}
			out = append(out, l)
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return one(func(v reflect.Value, text string) { v.SetBytes([]byte(text)) })
		}
		for _, l := range leaves(t.Elem(), path+"[]", above) {
			plant := l.plant
			l.plant = func(v reflect.Value, text string) {
				if v.Len() == 0 {
					v.Set(reflect.MakeSlice(t, 1, 1))
				}
				plant(v.Index(0), text)
			}
			out = append(out, l)
		}
	case reflect.Map:
		return mapLeaves(t, path, above)
	case reflect.Struct:
		return structLeaves(t, path, above)
	}
	return out
}

// mapLeaves are a map's keys and what its values hold.
func mapLeaves(t reflect.Type, path string, above map[reflect.Type]int) []leaf {
	out := []leaf{{path: path + "{key}", plant: func(v reflect.Value, text string) {
		value := reflect.New(t.Elem()).Elem()
		if t.Elem() == reflect.TypeFor[resource.Quantity]() {
			value.Set(reflect.ValueOf(resource.MustParse("1")))
		}
		into := reflect.MakeMap(t)
		into.SetMapIndex(reflect.ValueOf(text).Convert(t.Key()), value)
		v.Set(into)
	}}}
	for _, l := range leaves(t.Elem(), path+"{}", above) {
		plant := l.plant
		l.plant = func(v reflect.Value, text string) {
			value := reflect.New(t.Elem()).Elem()
			plant(value, text)
			into := reflect.MakeMap(t)
			into.SetMapIndex(reflect.ValueOf("berth.example/key").Convert(t.Key()), value)
			v.Set(into)
		}
		out = append(out, l)
	}
	return out
}

func structLeaves(t reflect.Type, path string, above map[reflect.Type]int) (out []leaf) {
	if above[t] > 0 {
		return nil // a type inside itself has the same places again
	}
	above[t]++
	defer func() { above[t]-- }()
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		at := path + "." + name
		if name == "" && (f.Anonymous || strings.Contains(options, "inline")) {
			at = path
		}
		for _, l := range leaves(f.Type, at, above) {
			plant := l.plant
			l.plant = func(v reflect.Value, text string) { plant(v.Field(i), text) }
			out = append(out, l)
		}
	}
	return out
}
