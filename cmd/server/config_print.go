package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"berth/internal/handlers"
	"berth/internal/web"
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
		from[name] = "memory limit of " + handlers.Bytes(total).String()
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
		return fmt.Sprintf("%q", withoutSecrets(v.String()))
	}
	return fmt.Sprint(v.Interface())
}

// withoutSecrets masks in a URL what may be a secret: the user, who may be a token, and the query.
func withoutSecrets(text string) string {
	u, err := url.Parse(text)
	if scheme, rest, is := strings.Cut(text, "://"); is && strings.Contains(rest, "@") && (err != nil || strings.ContainsAny(u.Path+u.Fragment+u.Host, "@") || strings.Count(rest, "@") > 1) {
		return scheme + "://xxxxx" // where a password ends is not known
	}
	if err != nil || u.Host == "" || u.User == nil && u.RawQuery == "" {
		return text
	}
	if u.User != nil {
		u.User = url.User("xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	return u.String()
}
