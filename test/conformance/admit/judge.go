package admit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Serve judges the cases of a stream, a line each, until it ends.
func (o *Oracle) Serve(in io.Reader, out io.Writer) error {
	read, write := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var c Case
		if err := read.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := write.Encode(o.judge(c)); err != nil {
			return err
		}
	}
}

// unreadable is the error of an object whose text is none of its kind.
const unreadable = "unreadable Invalid"

// judge makes an error of what a release cannot read or does not survive, such as an object that
// no API server gets to see.
func (o *Oracle) judge(c Case) (v Verdict) {
	defer func() {
		if r := recover(); r != nil {
			v = Verdict{Errors: []string{fmt.Sprint("panic Internal ", r)}}
		}
	}()
	var err error
	if c.Old == nil {
		v, err = o.Create(c.Pod)
	} else {
		v, err = o.Update(c.Pod, c.Old)
	}
	if err != nil {
		return Verdict{Errors: []string{unreadable}}
	}
	return v
}
