package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/words"
)

// common are the flags that every question has.
type common struct {
	server, snapshot, cluster, config, profile string
	kubeconfig, context                        string
	namespace, output, color                   string
	tokenFile, ca                              string
	all                                        bool // namespaces
	set                                        *pflag.FlagSet
}

// The forms of output.
const (
	formTable = "table"
	formWide  = "wide"
	formJSON  = "json"
	formHTML  = "html"
)

func (o *common) register(f *pflag.FlagSet, env func(string) string) {
	o.set = f
	text := func(v *string, name, fallback, help string) {
		if e := env("BERTH_" + strings.ToUpper(name)); e != "" {
			fallback = e
		}
		f.StringVar(v, name, fallback, help+" [$BERTH_"+strings.ToUpper(name)+"]")
	}
	text(&o.server, "server", "", "berth server to use, such as http://127.0.0.1:8080")
	f.Lookup("server").DefValue = words.Address(o.server) // help shows it
	f.StringVar(&o.tokenFile, "token-file", env("BERTH_TOKEN_FILE"), "file with the API token for the server [$BERTH_TOKEN_FILE]; or the token itself in $BERTH_TOKEN")
	text(&o.ca, "ca", "", "file with the CAs of the server's certificate, in PEM; by default those of the system")
	text(&o.snapshot, "snapshot", "", "no server: output of kubectl get -o json|yaml, - for stdin")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "read the cluster of this kubeconfig; by default kubectl's own files")
	f.StringVar(&o.context, "context", "", "context of the kubeconfig")
	text(&o.cluster, "cluster", "default", "the server's name of the cluster, or cluster@revision")
	text(&o.config, "config", "", "KubeSchedulerConfiguration to use")
	text(&o.profile, "profile", "", "profile of the configuration, else the pod's scheduler")
	text(&o.color, "color", "auto", "auto, always or never; NO_COLOR counts")
	f.StringVarP(&o.namespace, "namespace", "n", "default", "namespace of a pod named without one; by default the context's for a cluster")
	f.StringVarP(&o.output, "output", "o", formTable, "table, wide (nothing is cut), json, or html: a page in one file")
}

// check refuses what cannot be meant. A source that is named on the command
// line wins over one from the environment.
func (o *common) check() error {
	if !slices.Contains([]string{formTable, formWide, formJSON, formHTML}, o.output) {
		return fmt.Errorf("-o %s: want table, wide, json or html", o.output)
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return fmt.Errorf("--color %s: want auto, always or never", o.color)
	}
	named := func(flag string) bool { return o.set.Changed(flag) }
	if named("kubeconfig") || named("context") {
		if named("server") || named("snapshot") {
			return errTwoSources
		}
		o.server, o.snapshot = "", ""
	}
	if o.server != "" && o.snapshot != "" {
		switch {
		case named("server") == named("snapshot"):
			return fmt.Errorf("both a server (%s) and a snapshot (%s): give one of --server and --snapshot", words.Address(o.server), o.snapshot)
		case named("server"):
			o.snapshot = ""
		default:
			o.server = ""
		}
	}
	return nil
}

// again returns the flags that make another command ask the same source. What
// comes from the environment is there again by itself.
func (o *common) again() []string {
	var out []string
	for _, f := range []struct{ name, value string }{
		{"server", o.server},
		{"token-file", o.tokenFile},
		{"ca", o.ca},
		{"snapshot", o.snapshot},
		{"kubeconfig", o.kubeconfig},
		{"context", o.context},
		{"cluster", o.cluster},
		{"config", o.config},
		{"profile", o.profile},
	} {
		if f.value != "" && o.set.Changed(f.name) {
			out = append(out, "--"+f.name, f.value)
		}
	}
	return out
}
