// Package migrationstest takes migrations apart, and kills them, for tests.
package migrationstest

import (
	"slices"
	"strings"
)

// Statements returns the statements of a file in SQL, without comments. Semicolons in quotes, in
// bodies between $$ and in a trigger's BEGIN … END end none.
func Statements(text string) (all []string) {
	var one strings.Builder
	flush := func() {
		if s := strings.TrimSpace(one.String()); s != "" {
			all = append(all, s)
		}
		one.Reset()
	}
	for i := 0; i < len(text); {
		n, keep := 1, true
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "--"):
			n, keep = lengthTo(rest, "\n", 0), false
		case strings.HasPrefix(rest, "$$"):
			n = lengthTo(rest, "$$", 2)
		case rest[0] == '\'':
			n = lengthTo(rest, "'", 1)
		case rest[0] == ';' && !inTrigger(one.String()):
			flush()
			keep = false
		}
		if keep {
			one.WriteString(text[i : i+n])
		}
		i += n
	}
	flush()
	return all
}

// lengthTo returns how long text is up to the end of the next mark behind from.
func lengthTo(text, mark string, from int) int {
	if i := strings.Index(text[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(text)
}

// inTrigger reports whether a statement makes a trigger of SQLite, whose body has not ended.
func inTrigger(begun string) bool {
	words := strings.Fields(strings.ToUpper(begun))
	return len(words) > 1 && words[0] == "CREATE" && words[1] == "TRIGGER" && slices.Contains(words, "BEGIN") && words[len(words)-1] != "END"
}
