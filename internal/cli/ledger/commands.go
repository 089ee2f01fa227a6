package ledger

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Commands are the commands of the package. name is the program's, and connect returns the cluster
// that the flags of all commands name.
func Commands(name string, connect func() (*Cluster, error)) []*cobra.Command {
	at := " --server http://127.0.0.1:8080 --cluster plat"
	with := func(cmd *cobra.Command, run func(cmd *cobra.Command, c *Cluster, args []string) error) *cobra.Command {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			c, err := connect()
			if err != nil {
				return err
			}
			return run(cmd, c, args)
		}
		return cmd
	}
	return []*cobra.Command{
		applyCommand(name, at, with), patchCommand(name, at, with), deleteCommand(name, at, with), bindCommand(name, at, with),
		watchCommand(name, at, with), snapshotCommand(name, with),
	}
}

// running adds what a command does.
type running func(cmd *cobra.Command, run func(cmd *cobra.Command, c *Cluster, args []string) error) *cobra.Command

func applyCommand(name, at string, with running) *cobra.Command {
	var file string
	var dryRun bool
	cmd := with(&cobra.Command{
		Use:   "apply -f FILE",
		Short: "Create or update objects of a cluster that berth keeps",
		Long: `Creates or updates the objects of a file by one revision, all or none, as an
API server admits them: what a manifest leaves out stays. Names what became of
each. --dry-run writes nothing, and admits nothing either: it names what is
there.`,
		Example: "  " + name + " apply -f node.yaml" + at + "\n  kubectl get pdb -o yaml | " + name + " apply -f -" + at,
		Args:    cobra.NoArgs,
	}, func(cmd *cobra.Command, c *Cluster, _ []string) error {
		if file == "" {
			return &RefusalError{"which objects?", "Give their file with -f, or - for stdin."}
		}
		return c.Apply(cmd.Context(), file, dryRun)
	})
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the objects in YAML or JSON, - for stdin")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only name what would be created or updated")
	return cmd
}

func patchCommand(name, at string, with running) *cobra.Command {
	var text, kind string
	cmd := with(&cobra.Command{
		Use:     "patch KIND NAME -p PATCH",
		Short:   "Change fields of an object of a cluster that berth keeps",
		Example: "  " + name + ` patch node n1 -p '{"spec":{"unschedulable":true}}'` + at,
		Args:    cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, c *Cluster, args []string) error {
		refs, err := c.RefsOf(args)
		if err != nil {
			return err
		}
		if len(refs) != 1 {
			return &RefusalError{fmt.Sprintf("a patch is of one object, not of %d", len(refs)), "KIND NAME, such as node n1."}
		}
		if kind != "merge" && kind != "json" && kind != "strategic" {
			return &RefusalError{"--type " + kind + ": want merge, json or strategic", "See " + name + " patch --help."}
		}
		patch, err := yaml.ToJSON([]byte(text))
		if err != nil || len(text) == 0 {
			return &RefusalError{"-p is no patch in YAML or JSON", `Such as -p '{"spec":{"unschedulable":true}}'.`}
		}
		return c.Patch(cmd.Context(), refs[0], kind, json.RawMessage(patch))
	})
	cmd.Flags().StringVarP(&text, "patch", "p", "", "the patch, in YAML or JSON")
	cmd.Flags().StringVar(&kind, "type", "strategic", "merge (RFC 7386), json (RFC 6902) or strategic")
	return cmd
}

func deleteCommand(name, at string, with running) *cobra.Command {
	var file string
	var grace int64
	var missing bool
	cmd := with(&cobra.Command{
		Use:   "delete KIND NAME... | -f FILE",
		Short: "Remove objects from a cluster that berth keeps",
		Long: `Removes objects by one revision. A pod goes at once; with --grace-period it is
marked as ending, and a second delete removes it.`,
		Example: "  " + name + " delete pod web-1 web-2 -n shop" + at + "\n  " + name + " delete -f node.yaml" + at,
	}, func(cmd *cobra.Command, c *Cluster, args []string) (err error) {
		var refs []Ref
		switch {
		case file == "":
			refs, err = c.RefsOf(args)
		case len(args) > 0:
			err = &RefusalError{"both a file and names", "Give one of them."}
		default:
			refs, err = c.RefsIn(file)
		}
		if err != nil {
			return err
		}
		var seconds *int64
		if cmd.Flags().Changed("grace-period") {
			seconds = &grace
		}
		return c.Delete(cmd.Context(), refs, seconds, missing)
	})
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the objects, - for stdin")
	cmd.Flags().Int64Var(&grace, "grace-period", 0, "seconds that a running pod has to end")
	cmd.Flags().BoolVar(&missing, "ignore-not-found", false, "what is not there is no error")
	return cmd
}

func bindCommand(name, at string, with running) *cobra.Command {
	return with(&cobra.Command{
		Use:     "bind POD NODE",
		Short:   "Put a pod on a node, whatever a scheduler would say",
		Long:    "Binds a pod of the cluster, as a Binding does. The node is not judged: place decides.",
		Example: "  " + name + " bind web-1 n1 -n shop" + at,
		Args:    cobra.ExactArgs(2),
	}, func(cmd *cobra.Command, c *Cluster, args []string) error {
		refs, err := c.RefsOf([]string{"pod", strings.TrimPrefix(args[0], "pod/")})
		if err != nil {
			return err
		}
		return c.Bind(cmd.Context(), refs[0], args[1])
	})
}

func watchCommand(name, at string, with running) *cobra.Command {
	var after string
	cmd := with(&cobra.Command{
		Use:   "watch",
		Short: "What happens in a cluster, a line an event",
		Long: `Prints revisions, decisions, placements and wakes as they come, a line each.
With -o json a line is {"id", "event", "data"}. A connection that breaks is
opened again, and goes on behind the last event.`,
		Example: "  " + name + " watch" + at + "\n  " + name + " watch --after 0 -o json" + at,
		Args:    cobra.NoArgs,
	}, func(cmd *cobra.Command, c *Cluster, _ []string) error { return c.Watch(cmd.Context(), after) })
	cmd.Flags().StringVar(&after, "after", "", "the id of an event: those that came later; 0: all that are left")
	return cmd
}

func snapshotCommand(name string, with running) *cobra.Command {
	parent := &cobra.Command{
		Use:   "snapshot",
		Short: "Revisions of clusters",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var from string
	fork := with(&cobra.Command{
		Use:   "fork NAME",
		Short: "Begin a cluster as a copy of a revision of another one",
		Long: `Begins the cluster NAME with what a revision holds, at the same cost however
large it is. Both go their own ways from there, and each can be deleted.`,
		Example: "  " + name + " snapshot fork trial --from prod@1042 --server http://127.0.0.1:8080",
		Args:    cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *Cluster, args []string) error {
		if from == "" {
			from = c.Name + "@latest"
		} else if !strings.Contains(from, "@") {
			from += "@latest"
		}
		return c.Fork(cmd.Context(), args[0], from)
	})
	fork.Flags().StringVar(&from, "from", "", "the revision, such as prod@1042; by default the newest of --cluster")
	parent.AddCommand(fork)
	return parent
}
