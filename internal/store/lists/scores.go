package lists

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"berth/internal/store"
)

// encodeScores returns [[rank, node, total, [value…]]…] and the list of plugins that
// the values refer to by place: a value is the raw score, where that is the
// normalised one too, or [raw, normalised]. The weighted score is the normalised
// one times the plugin's weight, so it is not written. Where that does not hold, or
// the nodes' plugins differ, a row names its plugins itself, and plugins is empty.
func encodeScores(ss []store.Score) (column, plugins string) {
	if len(ss) == 0 {
		return "", ""
	}
	packed := packable(ss)
	if packed {
		plugins = pluginList(ss[0].Plugins)
	}
	var room [listRoom]byte
	b := room[:0]
	for i := range ss {
		s := &ss[i]
		b = append(b, separator(i)...)
		b = append(strconv.AppendInt(b, int64(s.Rank), 10), ',')
		b = append(appendString(b, s.Node), ',')
		b = strconv.AppendInt(b, s.Total, 10)
		switch {
		case packed:
			b = appendPacked(append(b, ','), s.Plugins)
		case s.Plugins != nil:
			// Marshalling texts and numbers cannot fail.
			js, _ := json.Marshal([]store.PluginScore(s.Plugins))
			b = append(append(b, ','), js...)
		}
		b = append(b, ']')
	}
	return string(append(b, ']')), plugins
}

// packable reports whether values are enough for all scores, and unpacking them returns the same.
func packable(ss []store.Score) bool {
	first := ss[0].Plugins
	for i := range first {
		if !plain(first[i].Plugin) {
			return false
		}
	}
	for i := range ss {
		if len(ss[i].Plugins) == 0 || len(ss[i].Plugins) != len(first) {
			return false
		}
		for j, p := range ss[i].Plugins {
			if p.Plugin != first[j].Plugin || p.Weight != first[j].Weight ||
				!small(p.Normalized) || !small(p.Weight) || p.Weighted != p.Normalized*p.Weight {
				return false
			}
		}
	}
	return true
}

func appendPacked(b []byte, ps []store.PluginScore) []byte {
	for i, p := range ps {
		b = append(b, "[,"[min(i, 1)])
		if p.Raw == p.Normalized {
			b = strconv.AppendInt(b, p.Raw, 10)
			continue
		}
		b = strconv.AppendInt(append(b, '['), p.Raw, 10)
		b = append(strconv.AppendInt(append(b, ','), p.Normalized, 10), ']')
	}
	return append(b, ']')
}

func pluginList(ps []store.PluginScore) string {
	var room [listRoom]byte
	b := room[:0]
	for i, p := range ps {
		b = append(b, separator(i)...)
		b = append(appendString(b, p.Plugin), ',')
		b = append(strconv.AppendInt(b, p.Weight, 10), ']')
	}
	return string(append(b, ']'))
}

// plain reports whether a name is written in JSON as it is.
func plain(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c < 0x20, c >= 0x7f, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return len(name) < 256
}

// small keeps a product from overflowing.
func small(n int64) bool { return n >= math.MinInt32 && n <= math.MaxInt32 }

// decodeScores reads what encodeScores wrote.
func decodeScores(column, plugins string) (ss []store.Score, err error) {
	var names [][2]json.RawMessage
	if plugins != "" {
		if err := json.Unmarshal([]byte(plugins), &names); err != nil {
			return nil, fmt.Errorf("read the stamp's plugins: %w", err)
		}
	}
	err = decodeRows("scores", column, func(field func(int, any) error) error {
		var s store.Score
		err := errors.Join(field(0, &s.Rank), field(1, &s.Node), field(2, &s.Total))
		if plugins == "" {
			err = errors.Join(err, field(3, (*[]store.PluginScore)(&s.Plugins)))
		} else if err == nil {
			s.Plugins, err = unpackPlugins(field, names)
		}
		ss = append(ss, s)
		return err
	})
	return ss, err
}

func unpackPlugins(field func(int, any) error, names [][2]json.RawMessage) (store.PluginScores, error) {
	var values []json.RawMessage
	if err := field(3, &values); err != nil {
		return nil, err
	}
	if len(values) != len(names) {
		return nil, fmt.Errorf("%d values of %d plugins", len(values), len(names))
	}
	out := make(store.PluginScores, len(values))
	for i, v := range values {
		p := &out[i]
		pair := [2]int64{}
		if err := json.Unmarshal(v, &pair[0]); err == nil {
			pair[1] = pair[0]
		} else if err := json.Unmarshal(v, &pair); err != nil {
			return nil, err
		}
		if err := errors.Join(json.Unmarshal(names[i][0], &p.Plugin), json.Unmarshal(names[i][1], &p.Weight)); err != nil {
			return nil, fmt.Errorf("read the stamp's plugins: %w", err)
		}
		p.Raw, p.Normalized, p.Weighted = pair[0], pair[1], pair[1]*p.Weight
	}
	return out, nil
}
