package store

import (
	"reflect"
	"testing"
)

// TestEveryFieldHasAColumn: a field of Decision that no column holds would be lost.
func TestEveryFieldHasAColumn(t *testing.T) {
	var d Decision
	columns := map[any]string{}
	for _, c := range DecisionColumns {
		if c.Field == nil {
			continue
		}
		if other, ok := columns[c.Field(&d)]; ok {
			t.Errorf("%s and %s hold one field", other, c.Name)
		}
		columns[c.Field(&d)] = c.Name
	}
	var held func(name string, v reflect.Value)
	held = func(name string, v reflect.Value) {
		if v.Type() == reflect.TypeFor[Asked]() { // its fields have a column each
			for i := range v.NumField() {
				held(name+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		}
		if _, ok := columns[v.Addr().Interface()]; !ok {
			t.Errorf("no column holds %s", name)
		}
	}
	fields := reflect.ValueOf(&d).Elem()
	for i := range fields.NumField() {
		held("Decision."+fields.Type().Field(i).Name, fields.Field(i))
	}
}
