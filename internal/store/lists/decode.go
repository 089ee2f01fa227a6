package lists

import (
	"encoding/json"
	"errors"

	"berth/internal/store"
)

// DecodeFailures reads what EncodeFailures wrote; a nil column is an empty list.
func DecodeFailures(column *string) (fs []store.Failure, err error) {
	err = decodeRows("failures", column, func(field func(int, any) error) error {
		var f store.Failure
		err := errors.Join(field(0, &f.Plugin), field(1, &f.Code), field(2, &f.Reason), field(3, &f.Nodes), field(4, &f.Names))
		fs = append(fs, f)
		return err
	})
	return fs, err
}

// DecodeScores reads what EncodeScores wrote; a nil column is an empty list.
func DecodeScores(column *string) (ss []store.Score, err error) {
	err = decodeRows("scores", column, func(field func(int, any) error) error {
		var s store.Score
		var plugins json.RawMessage
		err := errors.Join(field(0, &s.Rank), field(1, &s.Node), field(2, &s.Total), field(3, &plugins))
		s.Plugins = plugins
		ss = append(ss, s)
		return err
	})
	return ss, err
}

// DecodeVictims reads what EncodeVictims wrote; a nil column is an empty list.
func DecodeVictims(column *string) (vs []store.Victim, err error) {
	err = decodeRows("victims", column, func(field func(int, any) error) error {
		var v store.Victim
		err := errors.Join(field(0, &v.Namespace), field(1, &v.Pod), field(2, &v.UID), field(3, &v.Priority), field(4, &v.Node))
		vs = append(vs, v)
		return err
	})
	return vs, err
}
