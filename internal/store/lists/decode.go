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
		var pools [][]json.RawMessage
		err := errors.Join(field(0, &f.Plugin), field(1, &code), field(2, &f.Reason), field(3, &f.Nodes), field(4, &f.Names),
			field(5, &prefix), field(6, &suffix), field(7, &pools), decodeCode(code, &f.Code))
		if len(f.Names) == 0 {
			f.Names = nil
		}
		for i, name := range f.Names {
			f.Names[i] = prefix + name + suffix
		}
		for _, p := range pools {
			if len(p) < 2 {
				return errors.Join(err, errors.New("a pool has no count"))
			}
			var count store.PoolCount
			err = errors.Join(err, json.Unmarshal(p[0], &count.Pool), json.Unmarshal(p[1], &count.Nodes))
			f.Pools = append(f.Pools, count)
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
		err := errors.Join(field(0, &v.Namespace), field(1, &v.Pod), field(2, &v.UID), field(3, &v.Priority), field(4, &v.Node),
			field(5, &v.Budget), field(6, &v.OwnerKind), field(7, &v.OwnerName))
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
