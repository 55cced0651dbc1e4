// Package plancmd is the command daemok plan: what the controller would do now, or after a change, and why.
//
// It promises to change nothing in the cluster and at AWS; that a script can rely on its exit codes and on the keys of
// its JSON; and that an error names what is wrong with which file, object, flag or right. The plan itself is made by
// core/decide, and laid out by ui/changes.
package plancmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/files"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/whatif"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/ui/changes"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/progress"
)

// Exit codes beside 0 and 1.
const (
	WouldChange = 2 // with --detailed-exitcode: the plan does something
	FailedOn    = 3 // a condition of --fail-on holds
)

// ExitError is an error with an exit code of its own.
type ExitError struct {
	error

	Code int
}

// Status is the exit code.
func (e *ExitError) Status() int { return e.Code }

// Unwrap is the error itself.
func (e *ExitError) Unwrap() error { return e.error }

// Cluster is how the command reaches what it reads.
type Cluster struct {
	Read    inspect.Reader
	Open    func(*inspect.Target) (client.Client, error)
	Version func(*inspect.Target) (string, error) // of the API server
}

// flags are what plan is asked.
type flags struct {
	at               *inspect.Target
	form             *output.Format
	file             string
	asked, manifests []string
	policy           decide.Policy
	deletes          bool // the objects of the manifests are deleted, not applied
	upgrade, exits   bool // exits: with WouldChange where the plan does anything
	failOn           conditions
	verbose, watch   bool
	every            time.Duration
}

// html is the form of a file to share.
const html = "html"

// New returns the command.
func New(of Cluster) *cobra.Command {
	f := &flags{at: inspect.NewTarget().ForObjects(), form: output.New(output.Table, output.Wide, html)}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print what Daemok would do, and why, without doing it",
		Long: `Print what Daemok would do, and why, without doing it. It plans for the live cluster, or
for a file written by "daemok snapshot" ("-" reads standard input). Plans for a live
cluster use the settings in the installed controller's Deployment, if you may read it.
Environment variables take precedence over these, and flags over both.

What needs you comes first, then a summary, then tables in which equal nodes share a row:
+ launched, - terminated, ~ replaced. -o wide adds where each pod goes, the offerings not
chosen and every node that stays; -v adds each launch with its requirements; -o html is
one file to share.

-f adds or changes manifests as if they were applied and their controllers had acted:
workloads with their pods, NodePools, classes and what they refer to. The plan includes
them and is compared with the plan without them. With --delete their objects are deleted
instead. Files ending in .tf or .tf.json are read for kubernetes_manifest and
kubectl_manifest; what depends on Terraform's state is left out, and a line says so.

--what-if compares with other NodePools: words key=value, separated by commas. pool=NAME
is the NodePool that the changes after it are for; without it they are for every NodePool.
Changes are add-family, add-type, drop-family, drop-type, capacity (on-demand, spot,
reserved or any), zone, arch (a value or any) and machine-cost.

--fail-on exits with 3 where one of its conditions holds, separated by commas. A count is
unplaced, launched, terminated, replaced, removed (terminated or replaced), moved (pods),
drifted or failing (launches), alone or with a limit: removed>5. cost>+10% and cost>+$5/h
limit by how much the cost rises by the plan; cost>$900/month limits what it is then. With -f
conditions are about what the manifests change: pods, nodes, launches and dollars that the
plan without them has not. Only failing, and what the cost is then, are as without -f. With
--detailed-exitcode the code is 2 where the plan would change something and no condition holds.

--upgrade reports what an upgrade of the controller to the release of this command would
change for new nodes. For each class it compares the launch templates and user data of
example instances, such as on-demand, spot and arm64, with those that the cluster's
controllers recorded, and prints the values, user data included. Existing nodes stay.`,
		Example: `  daemok plan --snapshot situation.txt
  daemok plan -f deployment.yaml -f pools/
  daemok plan -f old-pool.yaml --delete -o html > plan.html
  daemok plan -f pools/ --fail-on 'unplaced,cost>+10%'
  daemok plan --what-if pool=default,add-family=m8g --what-if pool=default,capacity=any
  daemok plan --watch
  daemok plan --upgrade`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, of) },
	}
	f.at.AddTo(cmd)
	f.at.AddAWS(cmd)
	f.addTo(cmd)
	return cmd
}

func (f *flags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "snapshot", "", "file with the situation; default the live cluster")
	flags.Var(&f.policy.Preferences, "preference-policy",
		"Weigh, Respect or Ignore; default as the controller is set up")
	flags.Float64Var(&f.policy.PreferenceWorth, "preference-worth", decide.Worth,
		"by what share a preference may raise what its pods cost; default as the controller is set up")
	f.form.AddTo(flags)
	flags.StringArrayVarP(&f.manifests, "filename", "f", nil,
		"file or folder with manifests to add, - for standard input; may be repeated")
	flags.BoolVar(&f.deletes, "delete", false, "with -f: delete the objects of the manifests instead of applying them")
	flags.StringArrayVar(&f.asked, "what-if", nil,
		"changes of pools to compare with, such as pool=default,add-family=m8g; may be repeated")
	flags.BoolVar(&f.upgrade, "upgrade", false,
		"say what an upgrade to the release of this command changes of new nodes")
	flags.BoolVar(&f.exits, "detailed-exitcode", false,
		"exit with 2 where the plan would launch, withdraw or disrupt anything, with 0 where it would not")
	flags.Var(&f.failOn, "fail-on", "exit with 3 where one of these holds, such as unplaced,cost>+10%; may be repeated")
	flags.BoolVarP(&f.verbose, "verbose", "v", false,
		"also print each launch with its requirements, and each move, as the controller logs them")
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on, and print the plan again when it changes, until interrupted")
	flags.DurationVar(&f.every, "watch-interval", 10*time.Second, "with --watch: how long to wait before reading again")
	for _, other := range []string{"snapshot", "filename", "what-if", "detailed-exitcode", "fail-on", "watch"} {
		cmd.MarkFlagsMutuallyExclusive("upgrade", other)
	}
	cmd.MarkFlagsMutuallyExclusive("watch", "detailed-exitcode")
	cmd.MarkFlagsMutuallyExclusive("watch", "fail-on")
}

func (f *flags) run(cmd *cobra.Command, of Cluster) error {
	if !f.upgrade {
		return f.plan(cmd, of.Read)
	}
	line := progress.Start(cmd.Context(), cmd.ErrOrStderr(), "reading classes and NodeClaims")
	defer line.Stop()
	store, err := of.Open(f.at)
	if err != nil {
		return err
	}
	a, err := upgrade{store, f.at, func() (string, error) { return of.Version(f.at) }}.plan(cmd.Context(), ownBuild())
	if err != nil {
		return err
	}
	return f.form.Print(line.Over(cmd.OutOrStdout()), a)
}

// check finds flags that contradict each other.
func (f *flags) check() error {
	stdin := f.file == "-" || slices.Contains(f.manifests, "-")
	switch {
	case f.file == "-" && slices.Contains(f.manifests, "-"):
		return errors.New("--snapshot and -f cannot both read standard input")
	case f.policy.PreferenceWorth <= 0:
		return fmt.Errorf("--preference-worth is %v: want a share above 0", f.policy.PreferenceWorth)
	case f.deletes && len(f.manifests) == 0:
		return errors.New("--delete needs -f: name the manifests whose objects are to be deleted")
	case f.watch && stdin:
		return errors.New("--watch reads again and again, and standard input can be read once: give a file")
	case f.watch && f.form.Is(html):
		return errors.New("--watch has no -o html: leave one of them out")
	case f.watch && f.every < time.Second:
		return fmt.Errorf("--watch-interval is %s: want 1s or more", f.every)
	}
	return nil
}

// plan prints the plan of a situation, once or whenever it changes.
func (f *flags) plan(cmd *cobra.Command, read inspect.Reader) error {
	if err := f.check(); err != nil {
		return err
	}
	questions, err := readQuestions(f.asked)
	if err != nil {
		return err
	}
	in := input{f, cmd.InOrStdin(), cmd.Flags(), read, questions}
	if f.watch {
		return f.follow(cmd, in)
	}
	a, err := in.answer(cmd.Context())
	if err != nil {
		return err
	}
	if err := f.form.Print(cmd.OutOrStdout(), a.printed(f)); err != nil {
		return err
	}
	return f.verdict(a)
}

// verdict is the exit code that was asked for.
func (f *flags) verdict(a *answer) error {
	if reasons := f.failOn.met(a); len(reasons) > 0 {
		return &ExitError{fmt.Errorf("--fail-on: %s", strings.Join(reasons, "; ")), FailedOn}
	}
	launched, withdrawn, gone := len(a.Plan.Launches), len(a.Plan.Withdrawals), len(a.Plan.Removals())
	if f.exits && launched+withdrawn+gone > 0 {
		return &ExitError{fmt.Errorf("the plan changes the cluster: %s launched, %s withdrawn, %s disrupted",
			brief.Counted(launched, "instance"), brief.Counted(withdrawn, "NodeClaim"), brief.Counted(gone, "node")), WouldChange}
	}
	return nil
}

// input is where a plan is made from.
type input struct {
	*flags

	stdin     io.Reader
	set       *pflag.FlagSet
	read      inspect.Reader
	questions []whatif.Question
}

// answer reads everything and makes the plans.
func (in input) answer(ctx context.Context) (*answer, error) {
	namespace, err := in.at.Namespace()
	if err != nil {
		return nil, err
	}
	g := given{deletes: in.deletes}
	read := files.Manifests
	if in.deletes {
		read = files.Names
	}
	if g.objects, g.notes, err = read(in.stdin, in.manifests, namespace); err != nil {
		return nil, err
	}
	found, err := in.find(ctx)
	if err != nil {
		return nil, err
	}
	policy, err := in.policyOf(in.at.Setting)
	if err != nil {
		return nil, err
	}
	a := &answer{}
	a.Failing, a.Unread = found.Failing, found.Unread
	if a.Snapshot, a.Manifests, err = g.add(ctx, found, policy); err != nil {
		return nil, err
	}
	if a.Others, err = suppose(a.Snapshot, policy, in.questions); err != nil {
		return nil, err
	}
	a.Plan = compared(a.Snapshot, policy)
	return a, nil
}

// compared is the plan beside the runner-up with fewer instances.
func compared(s *cluster.Snapshot, policy decide.Policy) plan.Plan {
	p := planOf(s, policy)
	p.Fewer = decide.Fewer(s, policy, decide.Usual(s), &p)
	return p
}

// Page lays out the plan of a live cluster for another command, which follows the cluster meanwhile.
func Page(ctx context.Context, at *inspect.Target) (page.Page, error) {
	found, policy, err := inspect.ReadBeside(ctx, at)
	if err != nil {
		return page.Page{}, err
	}
	in := changes.Input{Medium: changes.WebPages, Failing: found.Failing, Unread: found.Unread}
	in.Snapshot, in.Plan = found.Snapshot, compared(found.Snapshot, policy)
	return changes.Page(in), nil
}

// policyOf makes plans in the way that the controller's settings ask for, where the flags of the
// command say nothing else. A saved situation has no controller: settings are those of the environment.
func (in input) policyOf(setting func(string) string) (decide.Policy, error) {
	p, err := inspect.PolicyOf(setting)
	if err != nil {
		return p, err
	}
	if in.set.Changed("preference-policy") {
		p.Preferences = in.policy.Preferences
	}
	if in.set.Changed("preference-worth") {
		p.PreferenceWorth = in.policy.PreferenceWorth
	}
	return p, nil
}

// find reads the file, or the live cluster when none is named.
func (in input) find(ctx context.Context) (inspect.Situation, error) {
	if in.file == "" {
		return in.read(ctx, in.at)
	}
	s, err := files.Situation(in.stdin, in.file, version.Get().Build())
	return inspect.Situation{Snapshot: s}, err
}
