package lists

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"berth/internal/store"
)

// PackScores gives [[rank, node, total, [value…]]…] and the list of plugins that
// the values refer to by place: a value is the raw score, where that is the
// normalised one too, or [raw, normalised]. The weighted score is the normalised
// one times the plugin's weight, so it is not written. Scores whose plugins are
// of any other form are written as EncodeScores does, and plugins is empty then.
func PackScores(ss []store.Score) (column []byte, plugins string) {
	if len(ss) == 0 {
		return nil, ""
	}
	b := make([]byte, 0, 96*len(ss))
	var names []named
	for i := range ss {
		s := &ss[i]
		b = append(b, separator(i)...)
		b = append(strconv.AppendInt(b, int64(s.Rank), 10), ',')
		b = append(appendString(b, s.Node), ',')
		b = append(strconv.AppendInt(b, s.Total, 10), ',', '[')
		p := pluginParser{rest: s.Plugins}
		if !p.literal("[") {
			return EncodeScores(ss), ""
		}
		for n := 0; ; n++ {
			one, raw, normalized, ok := p.next(n)
			if !ok {
				return EncodeScores(ss), ""
			}
			switch {
			case i == 0:
				names = append(names, one)
			case n >= len(names) || names[n] != one:
				return EncodeScores(ss), ""
			}
			if n > 0 {
				b = append(b, ',')
			}
			if raw == normalized {
				b = strconv.AppendInt(b, raw, 10)
			} else {
				b = strconv.AppendInt(append(b, '['), raw, 10)
				b = append(strconv.AppendInt(append(b, ','), normalized, 10), ']')
			}
			if p.literal("]") {
				if len(p.rest) != 0 || n+1 != len(names) {
					return EncodeScores(ss), ""
				}
				break
			}
		}
		b = append(b, "]]"...)
	}
	return append(b, ']'), pluginList(names)
}

// named is a plugin with its weight.
type named struct {
	name   string
	weight int64
}

func pluginList(names []named) string {
	b := make([]byte, 0, 32*len(names))
	for i, n := range names {
		b = append(b, separator(i)...)
		b = append(appendString(b, n.name), ',')
		b = append(strconv.AppendInt(b, n.weight, 10), ']')
	}
	return string(append(b, ']'))
}

// pluginParser reads the one form of a plugin's scores that is packed, byte for
// byte, so that unpacking gives the very same bytes.
type pluginParser struct{ rest []byte }

func (p *pluginParser) literal(s string) bool {
	if len(p.rest) < len(s) || string(p.rest[:len(s)]) != s {
		return false
	}
	p.rest = p.rest[len(s):]
	return true
}

func (p *pluginParser) number() (n int64, ok bool) {
	i := 0
	for i < len(p.rest) && (p.rest[i] == '-' || p.rest[i] >= '0' && p.rest[i] <= '9') {
		i++
	}
	text := string(p.rest[:i])
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, false
	}
	p.rest = p.rest[i:]
	return n, true
}

// next reads the n-th plugin's scores.
func (p *pluginParser) next(n int) (one named, raw, normalized int64, ok bool) {
	if n > 0 && !p.literal(",") || !p.literal(`{"plugin":"`) {
		return one, 0, 0, false
	}
	end := strings.IndexAny(string(p.rest[:min(len(p.rest), 256)]), "\"\\")
	if end < 0 {
		return one, 0, 0, false
	}
	one.name = string(p.rest[:end])
	p.rest = p.rest[end:]
	var weighted int64
	for _, field := range []struct {
		before string
		into   *int64
	}{{`","raw":`, &raw}, {`,"normalized":`, &normalized}, {`,"weight":`, &one.weight}, {`,"weighted":`, &weighted}} {
		if !p.literal(field.before) {
			return one, 0, 0, false
		}
		if *field.into, ok = p.number(); !ok {
			return one, 0, 0, false
		}
	}
	return one, raw, normalized, p.literal("}") && plain(one.name) && small(normalized) && small(one.weight) && weighted == normalized*one.weight
}

// plain says that a name is written in JSON as it is.
func plain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}

// small keeps a product from overflowing.
func small(n int64) bool { return n >= math.MinInt32 && n <= math.MaxInt32 }

// UnpackScores reads what PackScores wrote.
func UnpackScores(column, plugins string) (ss []store.Score, err error) {
	if plugins == "" {
		return DecodeScores(column)
	}
	if ss, err = DecodeScores(column); err != nil {
		return nil, err
	}
	var names [][2]json.RawMessage
	if err := json.Unmarshal([]byte(plugins), &names); err != nil {
		return nil, fmt.Errorf("read the stamp's plugins: %w", err)
	}
	for i := range ss {
		if ss[i].Plugins, err = unpackPlugins(ss[i].Plugins, names); err != nil {
			return nil, fmt.Errorf("read scores: %w", err)
		}
	}
	return ss, nil
}

func unpackPlugins(packed []byte, names [][2]json.RawMessage) ([]byte, error) {
	var values []json.RawMessage
	if err := json.Unmarshal(packed, &values); err != nil {
		return nil, err
	}
	if len(values) != len(names) {
		return nil, fmt.Errorf("%d values of %d plugins", len(values), len(names))
	}
	b := make([]byte, 0, 96*len(values))
	for i, v := range values {
		pair := [2]int64{}
		if err := json.Unmarshal(v, &pair[0]); err == nil {
			pair[1] = pair[0]
		} else if err := json.Unmarshal(v, &pair); err != nil {
			return nil, err
		}
		weight, err := strconv.ParseInt(string(names[i][1]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the stamp's weight: %w", err)
		}
		b = append(b, "[,"[min(i, 1)])
		b = fmt.Appendf(b, `{"plugin":%s,"raw":%d,"normalized":%d,"weight":%d,"weighted":%d}`, names[i][0], pair[0], pair[1], weight, pair[1]*weight)
	}
	return append(b, ']'), nil
}
