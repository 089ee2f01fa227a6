package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"berth/internal/manual"
	"berth/internal/version"
)

// program is what packages and archives call this program: server says little in a search path.
const program = "berth-server"

type manualCmd struct{}

// Run writes the manual page.
func (*manualCmd) Run(k *kong.Context, s streams) error {
	_, err := s.out.Write(manualOf(k.Model).Page())
	return err
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
	Name  string `default:"berth-server" help:"Name that the program is called by."`
}

// Run writes a shell's completion.
func (c *completionCmd) Run(k *kong.Context, s streams) error {
	text, err := manualOf(k.Model).Complete(c.Shell, c.Name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(s.out, text)
	return err
}

// manualOf is the table of commands as the manual page shows it.
func manualOf(m *kong.Application) manual.Program {
	root := commandOf(m.Node)
	root.Usage, root.Short, root.Long = "[COMMAND] [flags]", "scheduling decisions with Kubernetes semantics", m.Help
	return manual.Program{
		Name: program, Section: 8, Version: version.Number, Command: root,
		Notes: [][2]string{
			{"ENVIRONMENT", "Each flag is also an environment variable: BERTH_LISTEN is --listen. DATABASE_URL is --database-url. Flags win over variables, those over defaults."},
			{"FILES", "The Debian package reads variables from /etc/default/berth and keeps records in /var/lib/berth."},
			{"SEE ALSO", "berth(1)"},
		},
	}
}

func commandOf(n *kong.Node) manual.Command {
	c := manual.Command{Name: n.Name, Short: n.Help, Long: n.Detail}
	for _, a := range n.Positional {
		c.Usage = strings.TrimSpace(c.Usage + " " + a.Summary())
	}
	for _, f := range n.Flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		m := manual.Flag{Name: f.Name, Help: f.Help}
		if f.Short != 0 {
			m.Short = string(f.Short)
		}
		if !f.IsBool() {
			m.Value, m.Default = strings.Trim(f.FormatPlaceHolder(), `"`), f.Default
		}
		if f.Enum != "" {
			m.Words = f.EnumSlice()
			m.Value = strings.Join(m.Words, "|")
		}
		c.Flags = append(c.Flags, m)
	}
	for _, sub := range n.Children {
		if sub.Hidden {
			continue
		}
		s := commandOf(sub)
		s.Default = n.DefaultCmd == sub
		c.Commands = append(c.Commands, s)
	}
	return c
}
