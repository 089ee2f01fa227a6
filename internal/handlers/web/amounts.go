package web

import (
	"math"
	"strconv"
	"strings"

	"berth/internal/engine/rules"
	"berth/internal/words"
)

// amounts writes amounts of a resource as pages do: cpu in cores and bytes in GiB, with two digits
// behind the point at most, so that what stands in one column has one unit.
func amounts(of string, list []int64) []string {
	out := make([]string, len(list))
	for i, n := range list {
		switch rules.UnitOf(of) {
		case "millicores":
			out[i] = decimal(float64(n) / 1000)
		case "bytes":
			out[i] = decimal(float64(n)/(1<<30)) + " GiB"
		default:
			out[i] = thousands(strconv.FormatInt(n, 10))
		}
	}
	return out
}

// decimal writes a number with two digits behind the point at most. What is less than that is
// written with two that count, since it is not nothing.
func decimal(f float64) string {
	digits := 2
	if f != 0 && math.Abs(f) < 0.01 {
		digits = 1 - int(math.Floor(math.Log10(math.Abs(f))))
	}
	text := strconv.FormatFloat(f, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	whole, rest, behind := strings.Cut(text, ".")
	if behind {
		rest = "." + rest
	}
	return thousands(whole) + rest
}

// thousands puts commas into a whole number.
func thousands(text string) string {
	n, err := strconv.Atoi(text)
	if err != nil || n == 0 || n < 0 {
		return text
	}
	return words.Count(n)
}
