package player

import (
	"fmt"
	"slices"
	"strings"
)

// Played counts the decisions that a player had made, and the moments that it wrote down.
type Played struct{ Decisions, Moments int }

// Compare has the server answer a case as a simulation, plays it by hand, and returns the moments
// in which the two differ, from the first second on in which they do; none where they are equal.
func (c *Client) Compare(k *Case) (differences []string, of Played, err error) {
	base, err := c.upload(k.Name, k.Objects)
	if err != nil {
		return nil, of, err
	}
	var answer struct {
		Clock struct {
			Ended    string
			Timeline []Moment
		}
	}
	err = c.call("POST", "/v1/simulations", map[string]any{
		"base": base, "clock": true, "events": k.Events, "until": map[string]string{"duration": fmt.Sprintf("%ds", k.Until)}, "now": k.Begin, "wait": "1m",
		"rates": map[string]string{"clients": "none"}, // a player by hand knows no such rates
	}, &answer)
	if err != nil {
		return nil, of, err
	}
	if answer.Clock.Ended == "hotLoop" { // which a player by hand would not end either
		return nil, of, c.call("DELETE", "/v1/clusters/"+k.Name, nil, nil)
	}
	g := newGame(c, k)
	for i := range k.Events {
		e := &k.Events[i]
		g.at(e.second, byScenario, fmt.Sprintf("%06d", i), func() { g.happen(e) })
	}
	err = g.play(k.Until)
	if of = (Played{g.tries, len(g.moments)}); err != nil {
		return nil, of, err
	}
	for _, cluster := range []string{k.Name, g.cluster} {
		if err := c.call("DELETE", "/v1/clusters/"+cluster, nil, nil); err != nil && !strings.Contains(err.Error(), "404") {
			return nil, of, err
		}
	}
	return differ(answer.Clock.Timeline, g.moments), of, nil
}

// differ compares two timelines second by second.
func differ(simulated, played []Moment) []string {
	a, b := inSeconds(simulated), inSeconds(played)
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return nil
	}
	out := append([]string{"before:"}, a[max(0, n-12):n]...)
	out = append(out, "simulated:")
	out = append(out, a[n:min(len(a), n+30)]...)
	out = append(out, "played:")
	return append(out, b[n:min(len(b), n+30)]...)
}

// inSeconds writes moments in lines: within a second their order is free.
func inSeconds(list []Moment) []string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Moment) int {
		if a.AfterSeconds != b.AfterSeconds {
			return int(a.AfterSeconds - b.AfterSeconds)
		}
		return strings.Compare(a.String(), b.String())
	})
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.String()
	}
	return out
}
