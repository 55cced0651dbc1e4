package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/audit"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/doctor"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api/crds"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/ui/progress"
)

// Exit codes of the doctor.
const (
	doctorWarns = 1
	doctorErrs  = 2
)

// surroundings are what the doctor examines, as far as they can be reached.
type surroundings struct {
	open    inspect.Connector
	version func(*inspect.Target) (string, error)
	may     func(client.Client) doctor.Reviewer
	market  func(context.Context, *inspect.Target) (*aws.Provider, error)
}

func doctorCommand(in surroundings) *cobra.Command {
	at, form := inspect.NewTarget(), output.New()
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Report what is wrong with a cluster and its AWS account, before and after the installation",
		Long: `Check what the controller depends on, and print for each problem the object and what to
do: Kubernetes and the CustomResourceDefinitions, the controller, its right to set deletion
costs, other autoscalers, commitments, DNS and the VPC CNI; in AWS the cluster, the controller's role and its rights, what each node
class selects, whether nodes may join, spot instances and the interruption queue. Nothing
is changed.

It uses your own permissions, at the API server and in AWS. What you may not read is listed
as unknown.

Exit code 0: nothing is wrong. 1: there are warnings, or something could not be checked.
2: something will not work.`,
		Example: `  daemok doctor --cluster-name prod
  daemok doctor --context prod --cluster-name prod --region eu-west-1 -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			line := progress.Start(cmd.Context(), cmd.ErrOrStderr(), "examining the cluster and its AWS account")
			findings, err := in.examine(cmd.Context(), at)
			line.Stop()
			if err != nil {
				return err
			}
			if err := form.Print(cmd.OutOrStdout(), diagnosis(findings)); err != nil {
				return err
			}
			return verdict(findings)
		},
	}
	at.AddTo(cmd)
	at.AddAWS(cmd)
	form.AddTo(cmd.Flags())
	return cmd
}

// diagnosis is what was found, in all forms.
func diagnosis(findings []doctor.Finding) output.Answer {
	a := output.Answer{Value: findings, Text: func(out io.Writer) error { return doctor.Write(out, findings) }}
	for _, f := range findings {
		a.Rows = append(a.Rows, output.Row{Object: output.Refer(f.Object), Value: f})
	}
	return a
}

// verdict is an error, with the exit code, where something is wrong.
func verdict(findings []doctor.Finding) error {
	count := func(s doctor.Severity) (n int) {
		for _, f := range findings {
			if f.Severity == s {
				n++
			}
		}
		return n
	}
	switch doctor.Worst(findings) {
	case doctor.Error:
		return &exitError{fmt.Errorf("%s and %s", brief.Counted(count(doctor.Error), "error"), brief.Counted(count(doctor.Warning), "warning")), doctorErrs}
	case doctor.Warning:
		return &exitError{errors.New(brief.Counted(count(doctor.Warning), "warning")), doctorWarns}
	case doctor.Unknown:
		return &exitError{errors.New(brief.Counted(count(doctor.Unknown), "thing") + " could not be checked"), doctorWarns}
	}
	return nil
}

// examine examines the cluster; where it does not answer, that is what is wrong with it.
func (in surroundings) examine(ctx context.Context, at *inspect.Target) ([]doctor.Finding, error) {
	p, err := in.patient(ctx, at)
	var unreached *unreachedError
	if errors.As(err, &unreached) {
		return []doctor.Finding{doctor.Unreachable(unreached)}, nil
	}
	if err != nil {
		return nil, err
	}
	return doctor.Examine(ctx, p), nil
}

// unreachedError says that the API server answers nothing that is asked.
type unreachedError struct{ error }

// patient is the cluster that is examined.
func (in surroundings) patient(ctx context.Context, at *inspect.Target) (*doctor.Patient, error) {
	store, err := in.open(at)
	if err != nil {
		return nil, err
	}
	at.Notes = io.Discard // its checks say what could not be read
	if err := at.Learn(ctx, store); err != nil {
		return nil, &unreachedError{err}
	}
	at.ClusterName = at.EKSName()
	definitions, err := crds.All()
	if err != nil {
		return nil, err
	}
	p := &doctor.Patient{
		Store: store, Definitions: definitions, Name: at.ClusterName, Namespace: at.SystemNamespace(),
		Version: func(context.Context) (string, error) { return in.version(at) },
	}
	if in.may != nil {
		p.May = in.may(store)
	}
	var provider *aws.Provider
	provider, p.Unreached = in.market(ctx, at)
	if provider != nil && provider.ReadsCommitments() {
		p.Commitments = provider
	}
	looked := sync.OnceValues(func() ([]doctor.Class, error) { // several checks want them
		if provider == nil {
			return nil, p.Unreached
		}
		return examined(ctx, at, store, provider)
	})
	p.Classes = func(context.Context) ([]doctor.Class, error) { return looked() }
	p.Pools = func(ctx context.Context) ([]translate.PoolObject, error) { return inspect.PoolsOf(ctx, store) }
	if p.Unreached == nil {
		p.Unreached = in.account(ctx, p, at)
	}
	return p, nil
}

// account has the doctor ask AWS.
func (in surroundings) account(ctx context.Context, p *doctor.Patient, at *inspect.Target) error {
	if p.Name == "" {
		return errNoName
	}
	r := &iamReader{flags: iamFlags{at: at}, notes: io.Discard, open: in.open}
	a, err := r.aws(ctx)
	if err != nil {
		return err
	}
	scope := rights.Scope{Cluster: p.Name}
	if err := r.place(ctx, &scope); err != nil {
		return err
	}
	p.Account, p.RoleARN = a, scope.RoleARN
	p.Rights = func(ctx context.Context) ([]doctor.Finding, error) { return lacking(ctx, r) }
	return nil
}

// lacking are the rights that the controller's role lacks, or may lack.
func lacking(ctx context.Context, r *iamReader) (out []doctor.Finding, err error) {
	c, err := r.check(ctx, "")
	if err != nil {
		return nil, err
	}
	object := c.whose()
	for _, f := range c.in(audit.Missing) {
		severity := doctor.Error
		if f.Optional {
			severity = doctor.Warning
		}
		out = append(out, doctor.Finding{Severity: severity, Object: object, Message: fmt.Sprintf("it lacks %s%s; without it: %s", f.Action, brief.After(" on ", f.Resource), f.Without), WayOut: "daemok iam policy prints the policy that it needs"})
	}
	if n := len(c.in(audit.Unknown)); n > 0 {
		out = append(out, doctor.Finding{Severity: doctor.Unknown, Object: object, Message: brief.Counted(n, "right") + " could not be tried", WayOut: "daemok iam check lists them"})
	}
	if len(out) == 0 {
		out = []doctor.Finding{{Severity: doctor.OK, Object: object, Message: "it has all rights that the controller needs"}}
	}
	return out, nil
}

// examined are all classes of a cluster, with what AWS has for them.
func examined(ctx context.Context, at *inspect.Target, store client.Client, provider *aws.Provider) (out []doctor.Class, err error) {
	_, older, err := inspect.Served(store)
	if err != nil {
		return nil, err
	}
	classes, err := inspect.ClassesOf(ctx, at, store, provider, older)
	if err != nil {
		return nil, err
	}
	err = inspect.EachClass(ctx, store, classes.Kinds, func(kind *class.Kind, c *class.Subject) error {
		out = append(out, lookedUp(ctx, kind, c, provider))
		return nil
	})
	return out, err
}

// lookedUp is one class, with what AWS has for it.
func lookedUp(ctx context.Context, kind *class.Kind, found *class.Subject, provider *aws.Provider) doctor.Class {
	settings, wrong := class.Settings(found)
	c := doctor.Class{Name: kind.Name + "/" + found.GetName(), Spec: settings.Spec, NoSubnets: wrong, NoGroups: wrong, NoImages: wrong}
	if wrong == nil {
		c.Subnets, c.NoSubnets = provider.Subnets(ctx, settings)
	}
	if wrong == nil && settings.Spec.LaunchTemplate == "" {
		c.Groups, c.NoGroups = provider.Groups(ctx, settings)
		c.Images, c.NoImages = provider.Images(ctx, settings)
	}
	return c
}

// serverVersion asks the API server for its version, such as "1.36".
func serverVersion(at *inspect.Target) (string, error) {
	config, err := at.Config()
	if err != nil {
		return "", fmt.Errorf("find the cluster: %w", err)
	}
	asks, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", err
	}
	v, err := asks.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("ask the API server for its version: %w", err)
	}
	return v.Major + "." + strings.TrimRight(v.Minor, "+"), nil
}
