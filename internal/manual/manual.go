// Package manual writes a program's manual page and the shell completions of its flags from its own
// table of commands.
package manual

import (
	"fmt"
	"regexp"
	"strings"
)

// Program is a program with all its commands.
type Program struct {
	Name    string
	Section int
	Version string
	Command
	// Notes are sections after the commands, each a heading and its text.
	Notes [][2]string
}

// Command is one command; Usage is its line of arguments.
type Command struct {
	Name, Usage, Short, Long string
	Flags                    []Flag
	Commands                 []Command
	// Default marks the command whose flags are taken where no command is named.
	Default bool
}

// Flag is one flag. Value is the placeholder of its value, and empty where it takes none. Words are
// the values that it takes, if they are few.
type Flag struct {
	Name, Short, Value, Help, Default string
	Words                             []string
}

var (
	special = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`)
	control = regexp.MustCompile(`(?m)^\.`)
)

// roff escapes text.
func roff(text string) string { return control.ReplaceAllString(special.Replace(text), `\&.`) }

// Page writes the manual page in the macros of man(7). It has no date, so that it is the same
// whenever it is written.
func (p Program) Page() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %d \"\" \"berth %s\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %[6]s\n%[7]s\n",
		strings.ToUpper(p.Name), p.Section, p.Version, roff(p.Name), roff(p.Short), roff(p.Name), roff(p.Usage))
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(&b, p.Long)
	flags(&b, "OPTIONS", p.Flags)
	b.WriteString(".SH COMMANDS\n")
	for _, c := range p.Commands {
		command(&b, "", c)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, ".SH %s\n", roff(n[0]))
		paragraphs(&b, n[1])
	}
	return []byte(b.String())
}

func command(b *strings.Builder, parent string, c Command) {
	name := strings.TrimSpace(parent + " " + c.Name)
	fmt.Fprintf(b, ".SS %s\n", roff(strings.TrimSpace(name+" "+c.Usage)))
	paragraphs(b, c.Short+"\n\n"+c.Long)
	flags(b, "", c.Flags)
	for _, sub := range c.Commands {
		command(b, name, sub)
	}
}

// paragraphs writes text; lines that begin with two spaces keep their form, as examples do.
func paragraphs(b *strings.Builder, text string) {
	literal, parted := false, false
	end := func() {
		if literal {
			b.WriteString(".fi\n.RE\n")
			literal = false
		}
	}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "":
			end()
			parted = true
			continue
		case !strings.HasPrefix(line, "  "):
			end()
			if parted {
				b.WriteString(".PP\n")
			}
		case !literal:
			b.WriteString(".RS 4\n.nf\n")
			literal = true
		}
		parted = false
		b.WriteString(roff(strings.TrimPrefix(line, "  ")) + "\n")
	}
	end()
}

func flags(b *strings.Builder, heading string, list []Flag) {
	if len(list) == 0 {
		return
	}
	if heading != "" {
		fmt.Fprintf(b, ".SH %s\n", heading)
	}
	for _, f := range list {
		name := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Short != "" {
			name = `\fB` + roff("-"+f.Short) + `\fR, ` + name
		}
		if f.Value != "" {
			name += `=\fI` + roff(f.Value) + `\fR`
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, roff(f.Help))
		if f.Default != "" {
			fmt.Fprintf(b, "Default: %s.\n", roff(f.Default))
		}
	}
}
