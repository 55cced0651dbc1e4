// Package explaincmd is the command `daemok explain`.
package explaincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/access/kubectl"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/progress"
)

// reachAWS connects to the AWS account of a cluster.
type reachAWS func(context.Context, *inspect.Target) (*aws.Provider, error)

// Command is `daemok explain`.
func Command(open inspect.Connector, reach reachAWS) *cobra.Command {
	at, form, whole, all := inspect.NewTarget().ForObjects(), output.New(), false, false
	cmd := &cobra.Command{
		Use:   "explain (pod|node|nodepool|nodeclaim|deployment|ec2nodeclass NAME | KIND/NAME | INSTANCE)",
		Short: "Explain what an object is doing and why, what would change that, and what was done lately",
		Long: `Explain on one screen what a pod, node, NodePool, NodeClaim or Deployment is doing, why, what
would change that, what keeps it as it is (budget, PodDisruptionBudget, annotation, timer), and
what was done lately.

Why comes from the cluster as it is now, and from the record that the controller writes to
ConfigMaps in its namespace within seconds of a change, so the controller need not be running.
With --record all that is on record of the last day is printed: what is in effect first, then
the newest.

An instance is named by its ID or provider ID; its NodeClaim and its node are explained.
StatefulSets, DaemonSets, Jobs and ReplicaSets are explained as Deployments are: by their pods.
Of a CapacityBuffer or ProvisioningRequest it says for which pods it asks capacity, what it lacks
and why; of a CapacityQuota, what counts against its limits.

For an EC2NodeClass or AWSNodeTemplate it reports whether it is ready, what it selects, which
NodePools use it, which of their nodes have drifted, and which offerings are unavailable. It asks
AWS, with your credentials, how many addresses are free in the subnets.`,
		Example: `  daemok explain node ip-10-0-12-7.ec2.internal
  daemok explain pod web-5d8f9-x7k2p -n shop
  daemok explain deployment/web -n shop
  daemok explain i-0123456789abcdef0
  daemok explain ec2nodeclass default
  daemok explain capacityquota team-red
  daemok explain nodeoverlay savings-plan
  daemok explain nodepool default -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(kubectl.KindAndName(args)) != 2 && instanceIn(args) == "" {
				if len(args) > 0 && strings.HasPrefix(args[len(args)-1], "i-") {
					return fmt.Errorf("%s is no ID of an instance: want i- and 8 or 17 hexadecimal digits", args[len(args)-1])
				}
				return errors.New("say what to explain: pod, node, nodepool, provisioner, nodeclaim, deployment, ec2nodeclass, awsnodetemplate, " +
					"capacitybuffer, provisioningrequest, capacityquota or nodeoverlay, and its name; or the ID of an instance")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			namespace, err := at.Namespace()
			if err != nil {
				return err
			}
			q, err := questionOf(args, namespace)
			if err != nil {
				return err
			}
			q.whole, q.all = whole, all || form.Is(output.Wide)
			store, err := open(at)
			if err != nil {
				return err
			}
			line := progress.Start(cmd.Context(), cmd.ErrOrStderr(), "reading the cluster and the record")
			at.Notes = line.Over(at.Notes)
			answer, err := answer(cmd.Context(), at, store, reach, q)
			line.Stop()
			if err != nil {
				return err
			}
			return form.Print(cmd.OutOrStdout(), answer)
		},
	}
	cmd.Flags().BoolVar(&whole, "record", false, "print all that is on record about it, in its order")
	cmd.Flags().BoolVar(&all, "all", false, "list every row, whatever their number")
	at.AddTo(cmd)
	at.AddAWS(cmd)
	form.AddTo(cmd.Flags())
	return cmd
}

// statements are those of a record that was written at a time, or zero: of what is so now, in all forms.
func statements(list []record.Statement, written, now time.Time) output.Answer {
	a := output.Answer{Value: append([]record.Statement{}, list...)}
	for _, s := range list {
		a.Rows = append(a.Rows, output.Row{Object: output.ObjectOf(kindOf[s.About.Kind], s.About.Name), Value: s})
	}
	a.Text = func(out io.Writer) error {
		if written.IsZero() {
			return record.Write(out, abridged(list), now, now)
		}
		if err := record.Write(out, list, now, written); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "the record changed %s ago; what is decided again without a change is not written again\n", now.Sub(written).Round(time.Second))
		return err
	}
	return a
}

// linesMax is how many lines an entry has for people; other forms have all.
const linesMax = 40

// abridged are entries without the lines that are too many for people.
func abridged(list []record.Statement) []record.Statement {
	list = slices.Clone(list)
	for i := range list {
		if more := len(list[i].More) - linesMax; more > 0 {
			list[i].More = append(slices.Clone(list[i].More[:linesMax]), fmt.Sprintf("and %d more, which -o yaml lists", more))
		}
	}
	return list
}

// instanceTypeOf are the kinds of records as Kubernetes spells them.
var kindOf = map[record.Kind]string{
	record.Node: "Node", record.Pod: "Pod", record.Pool: "NodePool", record.Provisioner: "Provisioner", record.Claim: "NodeClaim",
	record.Buffer: "CapacityBuffer", record.Request: "ProvisioningRequest", record.Quota: "CapacityQuota",
	record.Overlay:                  "NodeOverlay",
	ofClass(class.KindEC2NodeClass): class.KindEC2NodeClass, ofClass(class.KindAWSNodeTemplate): class.KindAWSNodeTemplate,
}

// question is what is to be explained: an object, or what has an instance.
type question struct {
	about    record.Object
	instance string // its ID; empty: the object is meant
	class    string // kind of the class that the object is; empty: it is none
	owner    string // the object owns pods: "Deployment/web"; empty: it is one that is decided about
	whole    bool   // all that is on record is asked for, and nothing else
	all      bool   // every row is
}

// questionOf is the question that arguments put. Pods are of a namespace where they name none.
func questionOf(args []string, namespace string) (q question, err error) {
	if q.instance = instanceIn(args); q.instance != "" {
		return q, nil
	}
	args = kubectl.KindAndName(args)
	if kind := ownerKind(args[0]); kind != "" {
		if args[1] == "" {
			return q, fmt.Errorf("name the %s", kind)
		}
		if in, name, has := strings.Cut(args[1], "/"); has {
			namespace, args[1] = in, name
		}
		q.owner, q.about = kind+"/"+args[1], record.Object{Name: namespace}
		return q, nil
	}
	if _, err := record.ParseKind(args[0]); err != nil && inspect.KindOfClass(args[0]) == "" {
		return q, fmt.Errorf("%q is no kind that Daemok decides about: ask about a pod, node, nodepool, provisioner, nodeclaim, deployment, "+
			"ec2nodeclass, awsnodetemplate, capacitybuffer, provisioningrequest, capacityquota or nodeoverlay", args[0])
	}
	if q.class = inspect.KindOfClass(args[0]); q.class != "" {
		if args[1] == "" {
			return q, fmt.Errorf("name the %s", q.class)
		}
		q.about = record.Object{Kind: ofClass(q.class), Name: args[1]}
		return q, nil
	}
	q.about, err = record.Parse(args[0], args[1], namespace)
	return q, err
}

// answer is what there is to say, in all forms.
func answer(ctx context.Context, at *inspect.Target, store client.Client, reach reachAWS, q question) (output.Answer, error) {
	switch {
	case q.class != "":
		list, err := explainClass(ctx, at, store, reach, q)
		return statements(list, time.Time{}, time.Now()), err
	case q.whole && q.owner == "":
		list, written, err := explain(ctx, store, at.SystemNamespace(), q)
		return statements(list, written, time.Now()), err
	}
	return cardOf(ctx, at, store, q)
}

// explain reads what is on record about an object, and when that was written.
func explain(ctx context.Context, store client.Reader, namespace string, q question) ([]record.Statement, time.Time, error) {
	found, written, err := record.Read(ctx, store, namespace)
	if err != nil {
		return nil, time.Time{}, err
	}
	if written.IsZero() {
		return nil, time.Time{}, fmt.Errorf("no decision is on record in namespace %s: there is no ConfigMap %s-0, which the controller writes while it runs; "+
			"--system-namespace names another namespace", namespace, api.ConfigMapRecord)
	}
	if q.instance != "" {
		if q.about, err = ofInstance(ctx, store, found, q.instance); err != nil {
			return nil, time.Time{}, err
		}
	}
	list, err := found.Explain(q.about)
	if unknown, is := errors.AsType[*record.UnknownError](err); is {
		err = fmt.Errorf("%w%s", unknown, whyUnknown(ctx, store, q.about))
	}
	return list, written, err
}
