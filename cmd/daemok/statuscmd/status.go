// Package statuscmd is the command `daemok status`.
package statuscmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/ui/status"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// Look reads what the command shows.
type Look func(ctx context.Context, at *inspect.Target, askAWS bool) (view.Cluster, error)

// Follow watches what the command shows.
type Follow func(ctx context.Context, at *inspect.Target, askAWS bool) (view.Source, error)

// Command is `daemok status`.
func Command(look Look, follow Follow) *cobra.Command {
	at, form, all, askAWS, watch := inspect.NewTarget(), output.New(), false, false, false
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show on one screen how the controller and the cluster are, and what is wrong",
		Long: `Show on one screen which controller acts, what is wrong, how many nodes there are and what they
cost, which pods wait and what for, which nodes come and go, and what was done lately.

Reasons are those that the controller wrote to its record. It needs no AWS credentials: prices
are then list prices. With --aws it asks AWS for prices and for what pools may launch, and says
how far the cost is from the least possible.

kubectl shows the same, as the controller sees it:
  kubectl -n kube-system get configmap daemok-status -o jsonpath='{.data.status}'`,
		Example: `  daemok status
  daemok status --aws
  daemok status -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				source, err := follow(cmd.Context(), at, askAWS)
				if err != nil {
					return err
				}
				return show(cmd.Context(), source, form, cmd.OutOrStdout(), all)
			}
			c, err := look(cmd.Context(), at, askAWS)
			if err != nil {
				return err
			}
			return form.Print(cmd.OutOrStdout(), answer(&c, all || form.Is(output.Wide)))
		},
	}
	at.AddTo(cmd)
	at.AddAWS(cmd)
	form.AddTo(cmd.Flags())
	cmd.Flags().BoolVar(&all, "all", false, "list every row, whatever their number")
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again whenever something changes, until interrupted")
	cmd.Flags().BoolVar(&askAWS, "aws", false, "ask AWS for prices and for what pools may launch")
	return cmd
}

// show prints every view until ctx ends.
func show(ctx context.Context, source view.Source, form *output.Format, out io.Writer, all bool) error {
	for first := true; ; first = false {
		if form.ForPeople() && (!first || text.New(out).Terminal()) {
			text.New(out).Again()
		}
		if err := form.Print(out, answer(source.View(), all || form.Is(output.Wide))); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-source.Changed():
		}
	}
}

// answer is the view in all forms: a row is a node.
func answer(c *view.Cluster, all bool) output.Answer {
	a := output.Answer{Value: c, None: "the cluster has no nodes",
		Text: func(out io.Writer) error { return status.Write(text.New(out), c, all) }}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		object := output.Object{Kind: "Node", Name: n.Name}
		if n.Name == "" {
			object = output.Object{Group: "karpenter.sh", Kind: "NodeClaim", Name: n.Claim}
		}
		a.Rows = append(a.Rows, output.Row{Object: object, Value: n})
	}
	return a
}
