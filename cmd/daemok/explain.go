package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/observe/record"
)

// connector returns a client of a cluster.
type connector func(*target) (client.Client, error)

func explainCommand(open connector) *cobra.Command {
	at, form := newTarget(), output.New()
	cmd := &cobra.Command{
		Use:   "explain (node|pod|nodepool|provisioner|nodeclaim NAME | KIND/NAME)",
		Short: "Tell what was decided about an object lately, and why",
		Long: `Tell what the controller decided about a node, pod, pool or claim within the
last day, and why: what holds first, then the newest. It reads the record that
the controller writes to ConfigMaps of its namespace within seconds of a change,
so no controller need be running. What is
still so is so as of the last change, whose age is shown.`,
		Example: `  daemok explain node ip-10-0-12-7.ec2.internal
  daemok explain pod web-5d8f9-x7k2p -n shop
  daemok explain pod/web-5d8f9-x7k2p -n shop
  daemok explain nodepool default -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(kindAndName(args)) != 2 {
				return errors.New("say what to explain: node, pod, nodepool, provisioner or nodeclaim, and its name")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			namespace, err := at.Namespace()
			if err != nil {
				return err
			}
			args = kindAndName(args)
			about, err := record.Parse(args[0], args[1], namespace)
			if err != nil {
				return err
			}
			store, err := open(at)
			if err != nil {
				return err
			}
			list, written, err := explain(cmd.Context(), store, at.systemNamespace(), about)
			if err != nil {
				return err
			}
			return form.Print(cmd.OutOrStdout(), statements(list, written, time.Now()))
		},
	}
	at.addTo(cmd)
	form.AddTo(cmd.Flags())
	return cmd
}

// kindAndName are the arguments KIND NAME, which may be one as kubectl has it: KIND/NAME, with the kind's
// group behind it where kubectl prints that, as in nodepool.karpenter.sh/default. A pod's namespace may go before its name.
func kindAndName(args []string) []string {
	if len(args) != 1 {
		return args
	}
	resource, name, cut := strings.Cut(args[0], "/")
	if !cut {
		return args
	}
	kind, _, _ := strings.Cut(resource, ".")
	return []string{kind, name}
}

// statements are those of a record that was written at a time, in all forms.
func statements(list []record.Statement, written, now time.Time) output.Answer {
	a := output.Answer{Value: append([]record.Statement{}, list...)}
	for _, s := range list {
		a.Rows = append(a.Rows, output.Row{Object: objectOf(kindOf[s.About.Kind], s.About.Name), Value: s})
	}
	a.Text = func(out io.Writer) error {
		if err := record.Write(out, list, now, written); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "the record changed %s ago; what is decided again without a change is not written again\n", now.Sub(written).Round(time.Second))
		return err
	}
	return a
}

// kindOf are the kinds of records as Kubernetes spells them.
var kindOf = map[record.Kind]string{
	record.Node: "Node", record.Pod: "Pod", record.Pool: "NodePool", record.Provisioner: "Provisioner", record.Claim: "NodeClaim",
}

// explain reads what is on record about an object, and when that was written.
func explain(ctx context.Context, store client.Reader, namespace string, about record.Object) ([]record.Statement, time.Time, error) {
	found, written, err := record.Read(ctx, store, namespace)
	if err != nil {
		return nil, time.Time{}, err
	}
	if written.IsZero() {
		return nil, time.Time{}, fmt.Errorf("no decision is on record in namespace %s: there is no ConfigMap %s-0, which the controller writes while it runs; "+
			"--system-namespace names another namespace", namespace, api.ConfigMapRecord)
	}
	list, err := found.Explain(about)
	return list, written, err
}
