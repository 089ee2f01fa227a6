package words

import "strings"

// leastSuffix is how long a common end of names is that is worth a line of its own.
const leastSuffix = 8

// Suffix returns the longest end that all names have in common and that begins with a dot, such as
// ".eu-west-1.compute.internal"; empty where it is short, or a name is nothing else.
func Suffix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	common := names[0]
	for _, name := range names[1:] {
		for !strings.HasSuffix(name, common) {
			common = common[1:]
		}
	}
	at := strings.IndexByte(common, '.')
	for _, name := range names {
		if at == 0 && len(name) == len(common) { // one of them would be left without any name
			next := strings.IndexByte(common[1:], '.')
			if next < 0 {
				return ""
			}
			at = next + 1
		}
	}
	if at < 0 || len(common)-at < leastSuffix {
		return ""
	}
	return common[at:]
}

// Shorten returns names of at most width columns, without what is in their middle. No two of them
// become the same: where that cannot be, it returns nil.
func Shorten(names []string, width int) map[string]string {
	room := width - len(Dots)
	if room < 2 {
		return nil
	}
	for _, tail := range []int{room / 2, room * 2 / 3, room * 4 / 5, room / 4} {
		if out := shorten(names, width, room-tail, tail); out != nil {
			return out
		}
	}
	return nil
}

// shorten keeps so many columns of the beginning and of the end of each name that is too long.
func shorten(names []string, width, head, tail int) map[string]string {
	out, taken := make(map[string]string, len(names)), make(map[string]string, len(names))
	for _, name := range names {
		short := name
		if Columns(name) > width {
			first, rest := Split(name, head)
			for Columns(rest) > tail {
				_, rest = Split(rest, 1)
			}
			short = first + Dots + rest
		}
		if was, is := taken[short]; is && was != name {
			return nil
		}
		out[name], taken[short] = short, name
	}
	return out
}
