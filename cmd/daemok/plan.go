package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/access/output"
)

// planFlags are what plan is asked.
type planFlags struct {
	at               *inspect.Target
	form             *output.Format
	file             string
	asked, manifests []string
	policy           decide.Policy
	upgrade          bool
	exits            bool // with wouldChange where the plan does anything
}

// wouldChange is the exit code that says that a plan does something, where that is asked for.
const wouldChange = 2

func planCommand(read inspect.Reader, open inspect.Connector) *cobra.Command {
	f := &planFlags{at: inspect.NewTarget().ForObjects(), form: output.New()}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print what Daemok would do, and why, without doing it",
		Long: `Print what Daemok would do, and why, without doing it. It plans for the live cluster, or
for a file written by "daemok snapshot" ("-" reads standard input). Plans for a live
cluster use the settings in the installed controller's Deployment, if you may read it.
Environment variables take precedence over these, and flags over both.

-f adds or changes manifests as if they were applied and their controllers had acted:
workloads with their pods, NodePools, classes and what they refer to. The plan includes
them and is compared with the plan without them. Files ending in .tf or .tf.json are read
for kubernetes_manifest and kubectl_manifest; what depends on Terraform's state is left
out, and a line says so.

--what-if compares with other NodePools: words key=value, separated by commas. pool=NAME
is the NodePool that the changes after it are for; without it they are for every NodePool.
Changes are add-family, add-type, drop-family, drop-type, capacity (on-demand, spot,
reserved or any), zone, arch (a value or any) and machine-cost.

--upgrade reports what an upgrade of the controller to the release of this command would
change for new nodes. For each class it compares the launch templates and user data of
example instances, such as on-demand, spot and arm64, with those that the cluster's
controllers recorded, and prints the values, user data included. Existing nodes stay.`,
		Example: `  daemok plan --snapshot situation.txt
  daemok plan -f deployment.yaml -f pools/
  daemok plan --what-if pool=default,add-family=m8g --what-if pool=default,capacity=any
  daemok plan --upgrade`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !f.upgrade {
				return f.plan(cmd, read)
			}
			store, err := open(f.at)
			if err != nil {
				return err
			}
			a, err := upgrade{store, f.at, func() (string, error) { return serverVersion(f.at) }}.plan(cmd.Context(), ownBuild())
			if err != nil {
				return err
			}
			return f.form.Print(cmd.OutOrStdout(), a)
		},
	}
	f.at.AddTo(cmd)
	f.at.AddAWS(cmd)
	f.addTo(cmd)
	return cmd
}

func (f *planFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "snapshot", "", "file with the situation; default the live cluster")
	flags.Var(&f.policy.Preferences, "preference-policy", "Weigh, Respect or Ignore; default as the controller is set up")
	flags.Float64Var(&f.policy.PreferenceWorth, "preference-worth", decide.Worth, "by what share a preference may raise what its pods cost; default as the controller is set up")
	f.form.AddTo(flags)
	flags.StringArrayVarP(&f.manifests, "filename", "f", nil, "file or folder with manifests to add, - for standard input; may be repeated")
	flags.StringArrayVar(&f.asked, "what-if", nil, "changes of pools to compare with, such as pool=default,add-family=m8g; may be repeated")
	flags.BoolVar(&f.upgrade, "upgrade", false, "say what an upgrade to the release of this command changes of new nodes")
	flags.BoolVar(&f.exits, "detailed-exitcode", false, "exit with 2 where the plan would launch, withdraw or disrupt anything, with 0 where it would not")
	for _, other := range []string{"snapshot", "filename", "what-if", "detailed-exitcode"} {
		cmd.MarkFlagsMutuallyExclusive("upgrade", other)
	}
}

// plan prints the plan of a situation.
func (f *planFlags) plan(cmd *cobra.Command, read inspect.Reader) error {
	if f.file == "-" && slices.Contains(f.manifests, "-") {
		return errors.New("--snapshot and -f cannot both read standard input")
	}
	if f.policy.PreferenceWorth <= 0 {
		return fmt.Errorf("--preference-worth is %v: want a share above 0", f.policy.PreferenceWorth)
	}
	questions, err := readQuestions(f.asked)
	if err != nil {
		return err
	}
	namespace, err := f.at.Namespace()
	if err != nil {
		return err
	}
	objects, notes, err := readManifests(cmd.InOrStdin(), f.manifests, namespace)
	if err != nil {
		return err
	}
	found, err := find(cmd.Context(), cmd.InOrStdin(), f.file, f.at, read)
	if err != nil {
		return err
	}
	if err := f.follow(cmd.Flags(), f.at.Setting); err != nil {
		return err
	}
	s, added, err := add(found, f.policy, objects, notes)
	if err != nil {
		return err
	}
	others, err := suppose(s, f.policy, questions)
	if err != nil {
		return err
	}
	p := planOf(s, f.policy)
	p.Fewer = decide.Fewer(s, f.policy, decide.Usual(s), &p)
	if err := f.form.Print(cmd.OutOrStdout(), answer{p, allowedOf(s), added, others, found.Failing}.printed(f.form.Is(output.Wide))); err != nil {
		return err
	}
	if launched, withdrawn, gone := len(p.Launches), len(p.Withdrawals), len(p.Removals()); f.exits && launched+withdrawn+gone > 0 {
		return &exitError{fmt.Errorf("the plan changes the cluster: %s launched, %s withdrawn, %s disrupted",
			brief.Counted(launched, "instance"), brief.Counted(withdrawn, "NodeClaim"), brief.Counted(gone, "node")), wouldChange}
	}
	return nil
}

// follow makes plans in the way that the controller's settings ask for, where the flags of the
// command say nothing else. A saved situation has no controller: settings are those of the environment.
func (f *planFlags) follow(flags *pflag.FlagSet, setting func(string) string) error {
	p, err := inspect.PolicyOf(setting)
	if err != nil {
		return err
	}
	if flags.Changed("preference-policy") {
		p.Preferences = f.policy.Preferences
	}
	if flags.Changed("preference-worth") {
		p.PreferenceWorth = f.policy.PreferenceWorth
	}
	f.policy = p
	return nil
}

// find reads the file, or the live cluster when none is named.
func find(ctx context.Context, stdin io.Reader, file string, at *inspect.Target, read inspect.Reader) (inspect.Situation, error) {
	if file == "" {
		return read(ctx, at)
	}
	text, name, err := saved(stdin, file)
	if err != nil {
		return inspect.Situation{}, fmt.Errorf("read the situation: %w", err)
	}
	if strings.TrimSpace(text) == "" {
		return inspect.Situation{}, fmt.Errorf("the situation in %s is empty: write one with `daemok snapshot`", name)
	}
	s, err := scenario.Parse(text)
	if err != nil {
		return inspect.Situation{}, fmt.Errorf("read the situation in %s: %w", name, err)
	}
	return inspect.Situation{Snapshot: s}, nil
}

// saved reads the file, or standard input for "-", and names it for people.
func saved(stdin io.Reader, file string) (text, name string, err error) {
	var data []byte
	if name = file; file == "-" {
		name = "standard input"
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(file)
	}
	return string(data), name, err
}

// answer is the plan with what it is compared with.
type answer struct {
	made    plan.Plan
	allowed []allowedJSON
	added   *addition // nil: without manifests
	others  []supposition
	failing []string // NodeClaims whose launch fails, and why
}

// printed is the answer in all forms: a row is what is done with an instance, and wide says where
// every pod goes and what a little more of each resource would cost.
func (a answer) printed(wide bool) output.Answer {
	view := planView(a.made)
	view.Allowed, view.Failing = a.allowed, a.failing
	view.Manifests = additionView(a.made, a.added)
	view.WhatIf = each(a.others, func(x supposition) whatIfJSON { return whatIfView(x, a.made) })
	var rows []output.Row
	for _, l := range view.Launches {
		rows = append(rows, output.Row{Object: output.ObjectOf("NodeClaim", l.Name), Value: l})
	}
	for _, w := range view.Withdrawals {
		rows = append(rows, output.Row{Object: output.ObjectOf("NodeClaim", w.Claim), Value: w})
	}
	for _, r := range view.Removals {
		rows = append(rows, output.Row{Object: output.ObjectOf("Node", r.Node), Value: r})
	}
	return output.Answer{Value: view, Rows: rows, None: "the plan does nothing", Text: func(out io.Writer) error {
		if err := a.write(out); err != nil || !wide {
			return err
		}
		return writeMore(out, view)
	}}
}

// write prints the answer for people.
func (a answer) write(out io.Writer) error {
	if _, err := fmt.Fprint(out, a.made, a.made.Account()); err != nil {
		return err
	}
	if err := writeAllowed(out, a.allowed); err != nil {
		return err
	}
	if err := writeAddition(out, a.made, a.added); err != nil {
		return err
	}
	if err := writeWhatIf(out, a.made, a.others); err != nil {
		return err
	}
	for _, text := range a.failing {
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}
	return nil
}

// writeMore prints what the usual text counts or leaves out.
func writeMore(out io.Writer, view planJSON) error {
	text := ""
	for _, p := range view.Placements {
		text += fmt.Sprintf("pod %s goes to %s %s\n", p.Pod, p.On, p.Target)
	}
	for _, m := range view.Margins {
		text += fmt.Sprintf("one more of %s%s would cost $%f/h\n", m.Resource, brief.After(" in ", m.Zone), m.Price)
	}
	_, err := io.WriteString(out, text)
	return err
}
