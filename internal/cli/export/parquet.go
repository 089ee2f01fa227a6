package export

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"
)

// groupRows is how many rows a row group has at most, which a writer keeps in memory.
const groupRows = 100_000

// writeParquet writes columns that may all be NULL, of the type that they have in the database.
// Parquet orders them by name.
func (f *File) writeParquet(w io.Writer) error {
	group := parquet.Group{}
	for i, column := range f.columns {
		group[column] = parquet.Optional(parquet.Compressed(nodeOf(f.types[i]), &parquet.Zstd))
	}
	names := slices.Sorted(slices.Values(f.columns))
	place := make([]int, len(f.columns))
	for i, column := range f.columns {
		place[i] = slices.Index(names, column)
	}
	out := parquet.NewWriter(w, parquet.NewSchema("berth", group), parquet.MaxRowsPerRowGroup(groupRows))
	values := make(parquet.Row, len(f.columns))
	err := f.each(func(row []json.RawMessage) error {
		for i, raw := range row {
			value, err := valueOf(f.types[i], raw)
			if err != nil {
				return fmt.Errorf("column %s: %w", f.columns[i], err)
			}
			defined := 1
			if value.IsNull() {
				defined = 0
			}
			values[place[i]] = value.Level(0, defined, place[i])
		}
		_, err := out.WriteRows([]parquet.Row{values})
		return err
	})
	if err != nil {
		return err
	}
	return out.Close()
}

func nodeOf(kind string) parquet.Node {
	switch kind {
	case "integer":
		return parquet.Int(64)
	case "number":
		return parquet.Leaf(parquet.DoubleType)
	case "boolean":
		return parquet.Leaf(parquet.BooleanType)
	case "time":
		return parquet.Timestamp(parquet.Microsecond)
	}
	return parquet.String()
}

// valueOf reads a value of JSON as one of a type.
func valueOf(kind string, raw json.RawMessage) (parquet.Value, error) {
	if string(raw) == "null" {
		return parquet.NullValue(), nil
	}
	switch kind {
	case "integer":
		var v int64
		err := json.Unmarshal(raw, &v)
		return parquet.Int64Value(v), err
	case "number":
		var v float64
		err := json.Unmarshal(raw, &v)
		return parquet.DoubleValue(v), err
	case "boolean":
		var v bool
		err := json.Unmarshal(raw, &v)
		return parquet.BooleanValue(v), err
	case "time":
		var v time.Time
		err := json.Unmarshal(raw, &v)
		return parquet.Int64Value(v.UnixMicro()), err
	}
	var v string
	if json.Unmarshal(raw, &v) != nil {
		v = string(raw) // of a column that has other values, too
	}
	return parquet.ByteArrayValue([]byte(v)), nil
}
