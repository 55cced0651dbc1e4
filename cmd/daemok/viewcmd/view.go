// Package viewcmd is the command `daemok view`.
//
// It promises one screen in place of the viewer wherever there is no terminal to draw on. What is on the screen is
// ui/viewer's.
package viewcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/viewer"
)

// Look reads what the command shows once.
type Look func(ctx context.Context, at *inspect.Target, askAWS bool) (view.Cluster, error)

// Follow watches what the command shows.
type Follow func(ctx context.Context, at *inspect.Target, askAWS bool) (view.Source, error)

// inCSV is a form of this command alone.
const inCSV = "csv"

// flags are what a user asks for.
type flags struct {
	at             *inspect.Target
	form           *output.Format
	once, askAWS   bool
	sort, selector string
	viewer.Options
}

// Command is `daemok view`.
func Command(look Look, follow Follow) *cobra.Command {
	f := &flags{at: inspect.NewTarget(), form: output.New(output.Table, inCSV)}
	cmd := &cobra.Command{
		Use:   "view",
		Short: "Watch nodes, what they cost, pending pods and problems in the terminal",
		Long: `Watch the nodes of a cluster in the terminal, with a bar for each resource: how much of it pods
request, and how much is used where metrics-server is installed; what the nodes cost; where each is
between its launch and its end, and why; the pods that wait for a node; what is wrong; and what the
controller decided. Press ? for the keys and q to quit. Nothing is changed.

Nodes of managed node groups and of other autoscalers are shown too. Without a terminal, or with
--once or -o, one screen is printed.`,
		Example: `  daemok view
  daemok view --resources cpu,memory,nvidia.com/gpu --extra-labels team
  daemok view --nodepool default --node-selector topology.kubernetes.io/zone=us-west-2a --sort cpu
  daemok view -o csv > nodes.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.parse(); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if f.once || cmd.Flags().Changed("output") || !drawable(cmd.InOrStdin(), out) {
				return f.print(cmd.Context(), look, out)
			}
			return f.watch(cmd, follow)
		},
	}
	f.at.AddTo(cmd)
	f.at.AddAWS(cmd)
	f.form.AddTo(cmd.Flags())
	f.addTo(cmd.Flags())
	return cmd
}

// addTo adds what is shown, and how.
func (f *flags) addTo(set *pflag.FlagSet) {
	set.BoolVar(&f.once, "once", false, "print one screen and end")
	set.BoolVar(&f.askAWS, "aws", false, "ask AWS for prices and for what pools may launch")
	set.StringSliceVar(&f.Resources, "resources", viewer.UsualResources(),
		"resources that have a bar, such as nvidia.com/gpu")
	set.StringSliceVar(&f.Labels, "extra-labels", nil, "labels of nodes that have a column")
	set.StringVar(&f.sort, "sort", "", "order of nodes, such as cpu=desc: "+strings.Join(viewer.SortKeys(), ", ")+
		", a resource or a label; default age")
	set.StringVar(&f.selector, "node-selector", "",
		"only nodes with these labels, such as team=shop,kubernetes.io/arch!=arm64")
	set.StringSliceVar(&f.Pools, "nodepool", nil, "only nodes of these NodePools, Provisioners or node groups")
}

// parse reads what flags say in languages of their own.
func (f *flags) parse() (err error) {
	if f.sort != "" {
		if f.Sort, err = viewer.ParseSort(f.sort); err != nil {
			return fmt.Errorf("--sort %s: %w", f.sort, err)
		}
	}
	if f.selector != "" {
		if f.Selector, err = labels.Parse(f.selector); err != nil {
			return fmt.Errorf("--node-selector %s: %w", f.selector, err)
		}
	}
	return nil
}

// drawable reports whether there is a terminal to draw on, and one to read keys from.
func drawable(in io.Reader, out io.Writer) bool {
	terminal := func(f any) bool {
		file, is := f.(*os.File)
		return is && term.IsTerminal(file.Fd())
	}
	return terminal(in) && terminal(out) && os.Getenv("TERM") != "dumb"
}

// print prints the cluster once.
func (f *flags) print(ctx context.Context, look Look, out io.Writer) error {
	c, err := look(ctx, f.at, f.askAWS)
	if err != nil {
		return err
	}
	c.Nodes = slices.DeleteFunc(slices.Clone(c.Nodes), func(n view.Node) bool { return !f.Shows(&n) })
	f.Cluster = f.at.EKSName()
	a := output.Answer{Value: c, None: "no node of the cluster is selected", Text: func(out io.Writer) error {
		if f.form.Is(inCSV) {
			return viewer.CSV(out, &c, f.Options)
		}
		return viewer.Once(text.New(out), &c, f.Options)
	}}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		object := output.Object{Kind: "Node", Name: n.Name}
		if n.Name == "" {
			object = output.Object{Group: "karpenter.sh", Kind: "NodeClaim", Name: n.Claim}
		}
		a.Rows = append(a.Rows, output.Row{Object: object, Value: n})
	}
	return f.form.Print(out, a)
}

// sayAfter is after how long it is said what is waited for.
const sayAfter = 2 * time.Second

// watch shows the cluster until the user quits. It connects before it draws: what a credential plugin asks or
// says is seen.
func (f *flags) watch(cmd *cobra.Command, follow Follow) error {
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	silence()
	said := time.AfterFunc(sayAfter, func() { fmt.Fprintln(cmd.ErrOrStderr(), "Reading the cluster ...") })
	source, err := follow(ctx, f.at, f.askAWS)
	said.Stop()
	if err != nil {
		if cmd.Context().Err() != nil {
			return errors.New("interrupted before the cluster was read")
		}
		return err
	}
	f.Cluster = f.at.EKSName()
	return viewer.Run(ctx, source, f.Options, cmd.InOrStdin(), cmd.OutOrStdout())
}

// silence keeps what libraries log off the screen: what matters of it is among the troubles that are shown.
func silence() {
	klog.SetLogger(logr.Discard())
	log.SetLogger(logr.Discard())
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
}
