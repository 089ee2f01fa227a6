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
	fields := reflect.ValueOf(&d).Elem()
	for i := range fields.NumField() {
		if _, ok := columns[fields.Field(i).Addr().Interface()]; !ok {
			t.Errorf("no column holds Decision.%s", fields.Type().Field(i).Name)
		}
	}
}
