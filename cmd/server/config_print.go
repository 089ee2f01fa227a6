package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/alecthomas/kong"

	"berth/internal/handlers"
)

// configCmd groups what looks at the configuration.
type configCmd struct {
	Print configPrintCmd `cmd:"" help:"Print each setting and where it comes from, without serving."`
}

type configPrintCmd struct {
	settings
}

// Run prints the settings as YAML and, like serve, refuses bad ones.
func (c *configPrintCmd) Run(k *kong.Context, s streams) error {
	from := givenOf(k)
	set, total := c.fit(from, slog.New(slog.DiscardHandler))
	for _, name := range set {
		from[name] = "memory limit of " + handlers.Bytes(total).String()
	}
	for _, group := range k.Selected().AllFlags(true) {
		for _, f := range group {
			if f.Name == "help" {
				continue
			}
			fmt.Fprintf(s.out, "%s: %s  # %s\n", f.Name, printable(f), cmp.Or(from[f.Name], "default"))
		}
	}
	if err := errors.Join(c.validate(), c.Limits.CheckMemory(0)); err != nil {
		return err
	}
	conf, err := c.profiles()
	if err != nil {
		return err
	}
	for _, line := range conf.Ignored {
		fmt.Fprintln(s.err, "ignored:", line)
	}
	return nil
}

// printable writes a setting without its secrets.
func printable(f *kong.Flag) string {
	v := f.Target
	if v.Kind() == reflect.String {
		if f.Name == "database-url" && v.Len() > 0 {
			return `"****"`
		}
		return fmt.Sprintf("%q", v.String())
	}
	return fmt.Sprint(v.Interface())
}
