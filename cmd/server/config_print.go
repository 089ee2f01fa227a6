package main

import (
	"fmt"
	"os"
	"reflect"

	"github.com/alecthomas/kong"
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
	given := map[string]bool{}
	for _, p := range k.Path {
		if p.Flag != nil {
			given[p.Flag.Name] = true
		}
	}
	for _, group := range k.Selected().AllFlags(true) {
		for _, f := range group {
			if f.Name == "help" {
				continue
			}
			fmt.Fprintf(s.out, "%s: %s  # %s\n", f.Name, printable(f), origin(f, given))
		}
	}
	if err := c.validate(); err != nil {
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

func origin(f *kong.Flag, given map[string]bool) string {
	if given[f.Name] {
		return "flag"
	}
	for _, e := range f.Envs {
		if os.Getenv(e) != "" {
			return e
		}
	}
	return "default"
}
