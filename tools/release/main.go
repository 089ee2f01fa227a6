// Command release builds what a release of berth consists of: archives, packages, an image, the
// chart, a bill of materials, licences and checksums. The same commit gives the same bytes. It is a
// module of its own, so that the product does not depend on what it needs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/mail"
	"net/url"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

const usage = "use: release build|check|licences|modules|pin [flags]"

func run(args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	o := options{}
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	flags.StringVar(&o.source, "source", ".", "checkout to build")
	flags.StringVar(&o.out, "out", "dist", "directory that is written anew")
	flags.StringVar(&o.url, "url", "", "https address below which each release's archives can be fetched; without it there is no krew manifest")
	flags.StringVar(&o.maintainer, "maintainer", "", "who maintains the Debian package, as NAME <ADDRESS>; without it there is none")
	flags.BoolVar(&o.dirty, "dirty", false, "build a checkout with changes that are not committed")
	flags.BoolVar(&o.warm, "warm", false, "check with the build cache that there is: links and packs twice, compiles what is missing")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "to build for")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	for p := range strings.SplitSeq(*platforms, ",") {
		system, arch, ok := strings.Cut(p, "/")
		if !ok {
			return fmt.Errorf("-platforms: %q is not SYSTEM/ARCHITECTURE, such as linux/amd64", p)
		}
		o.platforms = append(o.platforms, platform{system, arch})
	}
	if err := o.validate(); err != nil {
		return err
	}
	switch args[0] {
	case "build":
		return build(&o)
	case "check":
		return check(&o)
	case "licences":
		return checkLicences(&o)
	case "modules":
		return modules(&o)
	case "pin":
		return pin(o.source)
	}
	return errors.New(usage)
}

// validate names the flag at fault.
func (o *options) validate() error {
	if u, err := url.Parse(o.url); o.url != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		return fmt.Errorf("-url: %q is not an address such as https://example.org/berth/releases", o.url)
	}
	if a, err := mail.ParseAddress(o.maintainer); o.maintainer != "" && (err != nil || a.Name == "") {
		return fmt.Errorf("-maintainer: %q is not NAME <ADDRESS>", o.maintainer)
	}
	return nil
}
