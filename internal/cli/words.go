package cli

import (
	"fmt"
	"math"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/advice"
)

// count writes a number with commas, from a thousand on.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// cells is a number of cells of tables.
func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return count(n) + " cells"
}

// ahead writes how far off a time is, in seconds begun.
func ahead(d time.Duration) string { return span(int64((d + time.Second - 1) / time.Second)) }

// span writes how long something takes or took, in its two largest units, as
// kubectl's ages are: 45s, 22m, 3h10m, 9d.
func span(seconds int64) string {
	switch {
	case seconds < 0:
		return "-" + span(-max(seconds, -math.MaxInt64))
	case seconds < 120:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return two(seconds/60, "m", seconds%60, "s")
	case seconds < 48*3600:
		return two(seconds/3600, "h", seconds%3600/60, "m")
	}
	return two(seconds/86400, "d", seconds%86400/3600, "h")
}

func two(large int64, unit string, small int64, smaller string) string {
	if small == 0 || large >= 10 {
		return fmt.Sprintf("%d%s", large, unit)
	}
	return fmt.Sprintf("%d%s%d%s", large, unit, small, smaller)
}

// clock writes a time of day, with the date where it is not the same day as now.
func clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// amounts writes amounts of a resource as people do: cpu in one unit, bytes with at most
// one decimal.
func amounts(name string, list []int64) []string {
	switch corev1.ResourceName(name) {
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		out := make([]string, len(list))
		for i, n := range list {
			out[i] = size(n)
		}
		return out
	}
	return advice.Amounts(name, list...)
}

// size writes a number of bytes with at most one decimal: the exact Ki of a difference do not
// matter to a reader.
func size(n int64) string {
	const unit = 1024
	v, units := float64(n), []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	i := 0
	for ; math.Abs(v) >= unit && i < len(units)-1; i++ {
		v /= unit
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + units[i]
}

// actionWords returns who has to do what.
func actionWords(a advice.Action) string {
	switch a {
	case advice.Wait:
		return "wait"
	case advice.ChangePod:
		return "change the pod"
	case advice.AskPlatform:
		return "ask the platform team"
	}
	return string(a)
}

// detailWords says in a line what a node's failure is about.
func detailWords(d *engine.Detail) string {
	switch d.Kind {
	case "resource":
		if d.Requested == nil || d.Available == nil {
			return d.Name
		}
		list := []int64{*d.Requested, *d.Available, *d.Requested - *d.Available}
		if d.Capacity != nil {
			list = append(list, *d.Capacity)
		}
		text := amounts(d.Name, list)
		s := fmt.Sprintf("needs %s, %s free", text[0], text[1])
		if d.Capacity != nil {
			s += " of " + text[3]
		}
		if list[2] <= 0 {
			return d.Name + ": " + s
		}
		return fmt.Sprintf("%s: short %s (%s)", d.Name, text[2], s)
	case "taint":
		s := d.Key
		if d.Value != "" {
			s += "=" + d.Value
		}
		return s + ":" + d.Effect
	case "topologySpread":
		if d.Skew == nil || d.MaxSkew == nil || d.Matching == nil {
			return d.Term
		}
		return fmt.Sprintf("%s: %d there already, skew %d, maxSkew %d", d.Domain, *d.Matching, *d.Skew, *d.MaxSkew)
	case "port":
		return fmt.Sprintf("%s %s:%d", d.Protocol, d.HostIP, d.Port)
	case "unschedulable":
		return "the node is cordoned"
	case "narrowed":
		return "the pod's affinity names other nodes"
	}
	for _, s := range []string{d.Term, d.Name, d.Domain, d.Key} {
		if s != "" {
			if d.TopologyKey != "" {
				return d.TopologyKey + ": " + s
			}
			return s
		}
	}
	return d.Kind
}
