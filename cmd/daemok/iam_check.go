package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/cloud/aws/audit"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/ui/progress"
)

// Exit codes of a check.
const (
	rightsDoubtful = 1 // the controller works on without what is missing, or not all could be checked
	rightsMissing  = 2
)

func iamCheckCommand(open inspect.Connector) *cobra.Command {
	f := iamFlags{at: inspect.NewTarget()}
	form, role := output.New().WithoutNames(), ""
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report which rights in AWS the controller's role lacks, and what fails without them",
		Long: `Check each right that the controller needs for what the cluster uses (see daemok iam
policy), and report which are missing and what fails without them. Nothing is changed.

If you have the right iam:SimulatePrincipalPolicy, IAM's policy simulator decides. If not,
and with the controller's own credentials, calls that change nothing are made: reads, and
dry runs of EC2. Rights that cannot be checked so are listed as unknown.

The role is the one that the controller's service account has, by IRSA or by EKS Pod
Identity. If it has none, or that may not be read, it is the caller's own.

Exit code 0: nothing is missing. 1: the controller works without what is missing, some
rights are unknown, or the check failed. 2: rights are missing that the controller needs.`,
		Example: `  daemok iam check
  daemok iam check --role arn:aws:iam::123456789012:role/KarpenterController-prod -o json`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if role != "" && !roleForm.MatchString(role) {
				return fmt.Errorf("--role is %q: want the name of a role, or its ARN", role)
			}
			return f.check()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			line := progress.Start(cmd.Context(), cmd.ErrOrStderr(), "asking AWS for the rights of the controller's role")
			r := iamReader{flags: f, notes: line.Over(cmd.ErrOrStderr()), open: open}
			c, err := r.check(cmd.Context(), role)
			line.Stop()
			if err != nil {
				return err
			}
			if err := form.Print(cmd.OutOrStdout(), c.printed(form.Is(output.Wide))); err != nil {
				return err
			}
			return c.verdict()
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&role, "role", "", "the controller's role, by name or ARN; default that of its service account, else the caller's own")
	form.AddTo(cmd.Flags())
	return cmd
}

// checked is what a check has found.
type checked struct {
	role     string // ARN
	callers  bool   // it is the caller's own, because no other is known
	how      string
	findings []audit.Finding
}

// check asks AWS which rights the controller's role has.
func (r *iamReader) check(ctx context.Context, role string) (checked, error) {
	scope, err := r.scope(ctx)
	if err != nil {
		return checked{}, err
	}
	a, err := r.aws(ctx)
	if err != nil {
		return checked{}, err
	}
	caller, err := a.Caller(ctx)
	if err != nil {
		return checked{}, err
	}
	own := ""
	if name := caller.Role(); name != "" {
		own = scope.RoleARN(name)
	}
	c := checked{role: scope.RoleARN(role), how: "simulated by IAM"}
	if role == "" && !r.flags.shadow { // whose service account is another
		if c.role, err = r.roleInCluster(ctx, a, scope.Cluster); err != nil {
			return checked{}, err
		}
	}
	switch {
	case c.role == "" && own == "":
		return checked{}, fmt.Errorf("the credentials are of %s, which is no role, and no service account of the controller has one: say --role with the controller's", caller.ARN)
	case c.role == "":
		c.role, c.callers = own, true
	}
	parts := r.flags.parts(scope)
	c.findings, err = a.Simulate(ctx, c.role, parts, scope.Account)
	switch {
	case err == nil || !errors.Is(err, audit.ErrNotSimulated):
		return c, err
	case c.role != own:
		return checked{}, fmt.Errorf("%w: grant it to %s, or repeat the command with the credentials of role %s", err, caller.ARN, c.role)
	}
	c.how = "tried by reads and dry runs"
	c.findings = a.Try(ctx, parts, audit.Subject{Cluster: scope.Cluster, ClusterARN: scope.ClusterARN(), Queue: scope.QueueName()})
	return c, nil
}

// roleInCluster is the role that the controller's service account has, by its annotation or by EKS Pod Identity; empty: it has none,
// or that may not be read.
func (r *iamReader) roleInCluster(ctx context.Context, a *audit.Auditor, cluster string) (string, error) {
	if r.found.role != "" || r.found.at == nil {
		return r.found.role, nil
	}
	role, err := a.PodIdentity(ctx, cluster, r.found.install.Namespace, r.found.install.Account)
	if errors.Is(err, audit.ErrDenied) {
		fmt.Fprintf(r.notes, "Which role EKS Pod Identity gives the controller is not known: %v. --role says which is meant.\n", err)
		return "", nil
	}
	return role, err
}

// in are the findings in a state.
func (c checked) in(state audit.State) []audit.Finding {
	return slices.DeleteFunc(slices.Clone(c.findings), func(f audit.Finding) bool { return f.State != state })
}

// printed is what was found in all forms. People see what is not in order, and in wide each right.
func (c checked) printed(wide bool) output.Answer {
	view := c.asJSON()
	a := output.Answer{Value: view, Text: func(out io.Writer) error { return c.write(out, wide) }}
	for _, f := range view.Findings {
		a.Rows = append(a.Rows, output.Row{Value: f})
	}
	return a
}

func (c checked) write(out io.Writer, wide bool) error {
	if wide {
		for _, f := range c.in(audit.Allowed) {
			fmt.Fprintf(out, "allowed: %s%s (statement %s)\n", f.Action, brief.After(" on ", f.Resource), f.Statement)
		}
	}
	for _, f := range c.in(audit.Missing) {
		fmt.Fprintf(out, "missing: %s%s (statement %s): %s\n", f.Action, brief.After(" on ", f.Resource), f.Statement, f.Why)
		fmt.Fprintf(out, "  without it: %s\n", f.Without)
	}
	for _, f := range c.in(audit.Unknown) {
		fmt.Fprintf(out, "unknown: %s (statement %s): %s\n", f.Action, f.Statement, f.Why)
	}
	_, err := fmt.Fprintf(out, "%s, %s: %s allowed, %d missing, %d unknown\n", c.whose(), c.how,
		brief.Counted(len(c.in(audit.Allowed)), "right"), len(c.in(audit.Missing)), len(c.in(audit.Unknown)))
	return err
}

// whose names the role, and says where it is not known to be the controller's.
func (c checked) whose() string {
	if c.callers {
		return "role " + c.role + " of these credentials, since the controller's is not known"
	}
	return "role " + c.role
}

// findingJSON is a finding as scripts read it.
type findingJSON struct {
	Statement string `json:"statement"`
	Action    string `json:"action"`
	State     string `json:"state"`
	Resource  string `json:"resource,omitempty"`
	Why       string `json:"why,omitempty"`
	Without   string `json:"without"`
	Optional  bool   `json:"optional"`
}

type checkedJSON struct {
	Role     string        `json:"role"`
	How      string        `json:"how"`
	Findings []findingJSON `json:"findings"`
}

func (c checked) asJSON() checkedJSON {
	out := checkedJSON{Role: c.role, How: c.how, Findings: []findingJSON{}}
	for _, f := range c.findings {
		out.Findings = append(out.Findings, findingJSON{f.Statement, f.Action, string(f.State), f.Resource, f.Why, f.Without, f.Optional})
	}
	return out
}

// verdict is an error, with the exit code, unless nothing is missing and all is known.
func (c checked) verdict() error {
	missing := c.in(audit.Missing)
	hard := slices.DeleteFunc(slices.Clone(missing), func(f audit.Finding) bool { return f.Optional })
	switch {
	case len(hard) > 0:
		return &exitError{fmt.Errorf("role %s lacks %s that the controller cannot do without: daemok iam policy prints them", c.role, brief.Counted(len(hard), "right")), rightsMissing}
	case len(missing) > 0:
		return &exitError{fmt.Errorf("role %s lacks %s that the controller works on without, less well", c.role, brief.Counted(len(missing), "right")), rightsDoubtful}
	case len(c.in(audit.Unknown)) > 0:
		return &exitError{fmt.Errorf("%s of role %s could not be tried", brief.Counted(len(c.in(audit.Unknown)), "right"), c.role), rightsDoubtful}
	}
	return nil
}
