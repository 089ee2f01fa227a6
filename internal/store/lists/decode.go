package lists

import (
	"encoding/json"
	"errors"
	"strconv"

	"berth/internal/store"
)

// decodeFailures reads what encodeFailures wrote.
func decodeFailures(column string) (fs []store.Failure, err error) {
	err = decodeRows("failures", column, func(field func(int, any) error) error {
		var f store.Failure
		var code json.RawMessage
		var prefix, suffix string
		err := errors.Join(field(0, &f.Plugin), field(1, &code), field(2, &f.Reason), field(3, &f.Nodes), field(4, &f.Names),
			field(5, &prefix), field(6, &suffix), decodeCode(code, &f.Code))
		for i, name := range f.Names {
			f.Names[i] = prefix + name + suffix
		}
		fs = append(fs, f)
		return err
	})
	return fs, err
}

// decodeVictims reads what encodeVictims wrote.
func decodeVictims(column string) (vs []store.Victim, err error) {
	err = decodeRows("victims", column, func(field func(int, any) error) error {
		var v store.Victim
		err := errors.Join(field(0, &v.Namespace), field(1, &v.Pod), field(2, &v.UID), field(3, &v.Priority), field(4, &v.Node))
		vs = append(vs, v)
		return err
	})
	return vs, err
}

func decodeCode(js json.RawMessage, into *string) error {
	if len(js) == 0 {
		return nil
	}
	for i, code := range codes {
		if i > 0 && string(js) == strconv.Itoa(i) {
			*into = code
			return nil
		}
	}
	return json.Unmarshal(js, into)
}
