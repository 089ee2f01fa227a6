package manual

import (
	"fmt"
	"strings"
)

// Shells are those that Complete writes for.
var Shells = []string{"bash", "zsh", "fish"}

// Complete writes the completion of commands, flags and their values for a shell, for a program
// that is called by this name.
func (p Program) Complete(shell, name string) (string, error) {
	switch shell {
	case "bash":
		return p.bash(name), nil
	case "zsh":
		// zsh's own emulation of bash's completion runs the same script.
		return "#compdef " + name + "\nautoload -U +X bashcompinit && bashcompinit\n" + p.bash(name), nil
	case "fish":
		return p.fish(name), nil
	}
	return "", fmt.Errorf("no completion for %q: it is written for %s", shell, strings.Join(Shells, ", "))
}

// walk calls f with each command, by its words below the program; the first is the program itself,
// with the flags of its default command.
func (p Program) walk(f func(path string, c Command)) {
	top := p.Command
	for _, c := range p.Commands {
		if c.Default {
			top.Flags = append(append([]Flag{}, top.Flags...), c.Flags...)
		}
	}
	f("", top)
	var below func(path string, c Command)
	below = func(path string, c Command) {
		f(path, c)
		for _, sub := range c.Commands {
			below(path+" "+sub.Name, sub)
		}
	}
	for _, c := range p.Commands {
		below(c.Name, c)
	}
}

func (p Program) bash(name string) string {
	var paths, words, values strings.Builder
	seen := map[string]bool{}
	p.walk(func(path string, c Command) {
		var list []string
		for _, sub := range c.Commands {
			list = append(list, sub.Name)
		}
		for _, f := range c.Flags {
			list = append(list, "--"+f.Name)
			if f.Value != "" && !seen[f.Name] {
				seen[f.Name] = true
				answer := "compgen -f"
				if len(f.Words) > 0 {
					answer = `compgen -W "` + strings.Join(f.Words, " ") + `"`
				}
				fmt.Fprintf(&values, "    --%s) COMPREPLY=($(%s -- \"$cur\")); return ;;\n", f.Name, answer)
			}
		}
		if path != "" {
			fmt.Fprintf(&paths, "      %q) at=%q ;;\n", path, path)
		}
		fmt.Fprintf(&words, "    %q) words=%q ;;\n", path, strings.Join(list, " "))
	})
	function := "_" + strings.ReplaceAll(name, "-", "_")
	return fmt.Sprintf(`%s() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at="" words="" word
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${at:+$at }$word" in
%s    esac
  done
  case "$prev" in
%s  esac
  case "$at" in
%s  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F %[1]s %[5]s
`, function, paths.String(), values.String(), words.String(), name)
}

func (p Program) fish(name string) string {
	var b strings.Builder
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(strings.Join(strings.Fields(s), " ")) + "'"
	}
	fmt.Fprintf(&b, "complete -c %s -f\n", name)
	p.walk(func(path string, c Command) {
		when := "__fish_use_subcommand"
		if path != "" {
			when = "__fish_seen_subcommand_from " + path[strings.LastIndex(path, " ")+1:]
		}
		for _, sub := range c.Commands {
			fmt.Fprintf(&b, "complete -c %s -n %s -a %s -d %s\n", name, quote(when), sub.Name, quote(sub.Short))
		}
		for _, f := range c.Flags {
			fmt.Fprintf(&b, "complete -c %s -n %s -l %s", name, quote(when), f.Name)
			if f.Short != "" {
				b.WriteString(" -s " + f.Short)
			}
			switch {
			case len(f.Words) > 0:
				fmt.Fprintf(&b, " -x -a %s", quote(strings.Join(f.Words, " ")))
			case f.Value != "":
				b.WriteString(" -r -F")
			}
			fmt.Fprintf(&b, " -d %s\n", quote(f.Help))
		}
	})
	return b.String()
}
