package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"berth/internal/handlers/limits"
	"berth/internal/handlers/web"
	"berth/internal/words"
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
	for _, f := range c.inForce(k, slog.New(slog.DiscardHandler)) {
		fmt.Fprintf(s.out, "%s: %s  # %s\n", f.Name, f.Value, f.From)
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

// inForce fits the settings to the memory that there is, and returns all with where they come from.
func (c *settings) inForce(k *kong.Context, log *slog.Logger) (list []web.Setting) {
	from := givenOf(k)
	set, total := c.fit(from, log)
	for _, name := range set {
		from[name] = "memory limit of " + limits.Bytes(total).String()
	}
	for _, group := range k.Selected().AllFlags(true) {
		for _, f := range group {
			if f.Name != "help" {
				list = append(list, web.Setting{Name: f.Name, Value: printable(f), From: cmp.Or(from[f.Name], "default")})
			}
		}
	}
	return list
}

// printable writes a setting without its secrets.
func printable(f *kong.Flag) string {
	v := f.Target
	if v.Kind() == reflect.String {
		if f.Name == "database-url" && v.Len() > 0 {
			return `"****"`
		}
		return fmt.Sprintf("%q", words.Address(v.String()))
	}
	if list, is := v.Interface().([]string); is {
		list = slices.Clone(list)
		for i := range list {
			list[i] = words.Address(list[i])
		}
		return fmt.Sprint(list)
	}
	return fmt.Sprint(v.Interface())
}
