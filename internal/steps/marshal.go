package steps

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"berth/internal/jsonscan"
)

// chunk is how many elements of a list are marshalled between two looks at the context, and few how
// many may have long lists of their own.
const (
	chunk = 512
	few   = 16
)

var marshaler = reflect.TypeFor[json.Marshaler]()

// Marshal returns what json.Marshal does of a struct, and ends with ctx where lists in its fields
// are long.
func Marshal(ctx context.Context, v any) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err //nolint:wrapcheck // it is the caller's own
	}
	of := reflect.Indirect(reflect.ValueOf(v))
	if _, own := v.(json.Marshaler); own || of.Kind() != reflect.Struct {
		return json.Marshal(v) //nolint:wrapcheck // it is a part of the caller's value
	}
	short := reflect.New(of.Type()).Elem()
	short.Set(of)
	long := map[string]reflect.Value{}
	for i := range of.NumField() {
		list, f := of.Field(i), of.Type().Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		plain := list.Kind() == reflect.Slice && list.Type().Elem().Kind() != reflect.Uint8 && !list.Type().Implements(marshaler)
		if plain && list.Len() > 0 && key != "" && f.IsExported() {
			long[key] = list
			short.Field(i).Set(reflect.MakeSlice(list.Type(), 1, 1)) // a place for the list
		}
	}
	js, err := json.Marshal(short.Interface())
	if err != nil || len(long) == 0 {
		return js, err //nolint:wrapcheck // it is a part of the caller's value
	}
	var out []byte
	last := 0
	jsonscan.Members(js, 0, func(key []byte, at int) bool {
		list, is := long[string(key)]
		if !is {
			return true
		}
		out = append(append(out, js[last:at]...), '[')
		last = jsonscan.ValueEnd(js, at)
		out, err = appendList(ctx, out, list)
		out = append(out, ']')
		return err == nil
	})
	return append(out, js[last:]...), err
}

// appendList appends the elements of a list.
func appendList(ctx context.Context, out []byte, list reflect.Value) ([]byte, error) {
	for i, n := 0, list.Len(); i < n; {
		var js []byte
		var err error
		if n <= few {
			e := list.Index(i)
			if e.Kind() != reflect.Pointer {
				e = e.Addr()
			}
			js, err = Marshal(ctx, e.Interface())
			i++
		} else if err = ctx.Err(); err == nil {
			js, err = json.Marshal(list.Slice(i, min(i+chunk, n)).Interface())
			i += chunk
		}
		if err != nil {
			return nil, err
		}
		if n > few {
			js = js[1 : len(js)-1]
		}
		if out = append(out, js...); i < n {
			out = append(out, ',')
		}
	}
	return out, nil
}
