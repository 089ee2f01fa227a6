// Package export writes rows of the log's views to files for other programs.
package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Forms are the endings of the files that can be written.
var Forms = []string{".parquet", ".ndjson"}

// File collects rows beside the place where its file will be: the types of columns are known at the
// end, and a file that is there is whole.
type File struct {
	path    string
	rows    *os.File
	buffer  *bufio.Writer
	columns []string
	types   []string
	count   int
}

// Create makes a file of the form that its name ends with.
func Create(path string) (*File, error) {
	if !slices.Contains(Forms, filepath.Ext(path)) {
		return nil, fmt.Errorf("%s: want a name that ends with %s", path, strings.Join(Forms, " or "))
	}
	rows, err := os.CreateTemp(filepath.Dir(path), ".berth-export-*")
	if err != nil {
		return nil, err
	}
	return &File{path: path, rows: rows, buffer: bufio.NewWriterSize(rows, 1<<20)}, nil
}

// Add takes rows, whose columns have to be those of the rows before.
func (f *File) Add(columns, types []string, rows [][]json.RawMessage) error {
	switch {
	case len(types) != len(columns):
		return errors.New("an answer has other types than columns")
	case f.columns == nil:
		f.columns, f.types = columns, types
	case !slices.Equal(columns, f.columns):
		return errors.New("the view has other columns than before: export it again")
	}
	for i := range types {
		f.types[i] = common(f.types[i], types[i])
	}
	for _, row := range rows {
		if len(row) != len(columns) {
			return errors.New("a row has other values than columns")
		}
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		_, _ = f.buffer.Write(append(line, '\n')) // Flush has its error
	}
	f.count += len(rows)
	return nil
}

// common returns the type that has the values of both.
func common(a, b string) string {
	switch {
	case a == b || b == "":
		return a
	case a == "":
		return b
	case a == "integer" && b == "number" || a == "number" && b == "integer":
		return "number"
	}
	return "text"
}

// Rows returns how many rows there are.
func (f *File) Rows() int { return f.count }

// Abandon takes away what was collected. It does nothing after Close.
func (f *File) Abandon() {
	if f.rows != nil {
		_, _ = f.rows.Close(), os.Remove(f.rows.Name())
	}
	f.rows = nil
}

// Close writes the file.
func (f *File) Close() (err error) {
	defer f.Abandon()
	if err := f.buffer.Flush(); err != nil {
		return err
	}
	if _, err := f.rows.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(f.path), ".berth-export-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = out.Close(), os.Remove(out.Name())
		}
	}()
	write := f.writeNDJSON
	if filepath.Ext(f.path) == ".parquet" {
		write = f.writeParquet
	}
	buffer := bufio.NewWriterSize(out, 1<<20)
	if err := errors.Join(write(buffer), buffer.Flush(), out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return os.Rename(out.Name(), f.path)
}

// each calls f with each row.
func (f *File) each(use func(row []json.RawMessage) error) error {
	lines := bufio.NewReaderSize(f.rows, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var row []json.RawMessage
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		if err := use(row); err != nil {
			return err
		}
	}
}

// writeNDJSON writes an object a line, with the columns in their order.
func (f *File) writeNDJSON(w io.Writer) error {
	names := make([][]byte, len(f.columns))
	for i, column := range f.columns {
		names[i], _ = json.Marshal(column) // a text has JSON
	}
	var line bytes.Buffer
	return f.each(func(row []json.RawMessage) error {
		line.Reset()
		for i, value := range row {
			line.WriteByte("{,"[min(i, 1)])
			line.Write(names[i])
			line.WriteByte(':')
			line.Write(value)
		}
		line.WriteString("}\n")
		_, err := w.Write(line.Bytes())
		return err
	})
}
