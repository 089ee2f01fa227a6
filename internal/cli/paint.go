package cli

// paint colours words on terminals; elsewhere it leaves them as they are.
type paint bool

func (a *app) paint() paint {
	switch a.o.color {
	case "always":
		return true
	case "never":
		return false
	}
	return paint(a.Columns > 0 && a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb")
}

type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
)

func (p paint) word(c colour, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + string(c) + ";1m" + s + "\x1b[0m"
}
