package cli

import (
	"strings"
	"time"

	"berth/internal/podlife"
)

// lives writes a line a pod.
func (p *page) lives(pods []target, lives []life, now time.Time) {
	t := newTable(5, "POD", ">READY", "STATUS", ">RESTARTS", "PHASE", "NEXT")
	well := 0
	for i, l := range lives {
		if l.well() {
			well++
		}
		t.add(pods[i].String(), l.Ready, l.status(p.wide), l.Restarts, string(l.Phase), l.nextOf(now))
	}
	t.colour = func(r, c int) colour {
		if c == 2 {
			return lives[r].colour()
		}
		return ""
	}
	p.table(t)
	p.line("%s, %s ready or succeeded", plural(len(lives), "pod"), count(well))
}

// nextOf names what happens first in a pod.
func (l life) nextOf(now time.Time) string {
	for _, actions := range [][]podlife.Action{{podlife.ActionStart, podlife.ActionRestart}, {podlife.ActionBackoff}, {podlife.ActionWait}} {
		for i := range l.Containers {
			c := &l.Containers[i]
			for _, a := range actions {
				if c.Next.Action == a {
					return c.Name + ": " + strings.Split(nextFor(c, now), ",")[0]
				}
			}
		}
	}
	return "-"
}
