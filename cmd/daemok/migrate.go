package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cmd/daemok/files"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/gates"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/migrate/convert"
	"github.com/daemok/daemok/migrate/live"
	"github.com/daemok/daemok/ui/progress"
)

// migration is what the user asks of daemok migrate.
type migration struct {
	paths         []string
	recursive     bool
	at            *inspect.Target
	report        string
	form          *output.Format
	checks        bool
	policies      []string // files
	from, plan    string   // another autoscaler; file for what to do with its groups
	kept          []string // groups that stay as they are
	applies, back bool
	convert.Options

	reach  func(*inspect.Target) (reached, error)
	market func(context.Context, *inspect.Target) (*aws.Provider, error)
}

// reached is a cluster that is migrated.
type reached struct {
	client.Client
	kubernetes string // its version, such as "1.27"
}

// reach finds a cluster.
func reach(at *inspect.Target) (reached, error) {
	version, err := serverVersion(at)
	if err != nil {
		return reached{}, err
	}
	store, err := inspect.Connect(at)
	return reached{store, version}, err
}

func migrateCommand(reach func(*inspect.Target) (reached, error), market func(context.Context, *inspect.Target) (*aws.Provider, error)) *cobra.Command {
	m := migration{at: inspect.NewTarget(), form: output.New("text"), reach: reach, market: market}
	cmd := &cobra.Command{
		Use:   "migrate [-f FILE|FOLDER|-]",
		Short: "Turn manifests of earlier APIs into NodePools and EC2NodeClasses, or move a cluster",
		Long: `Read manifests, or without -f the cluster, and print equivalent manifests of
karpenter.sh/v1: a NodePool for each Provisioner (karpenter.sh/v1alpha5), an EC2NodeClass
for each AWSNodeTemplate (karpenter.k8s.aws/v1alpha1), and v1beta1 objects with the fields
that have moved since. The ConfigMap karpenter-global-settings is taken into account if it
is among them. Files ending in .tf are read for kubernetes_manifest and kubectl_manifest,
with the locals and variable defaults of their folder; what depends on Terraform's state,
such as ${module.eks.cluster_name}, stays as it is.

Workloads of any kind whose pods use labels or annotations of v1alpha5 are reported; with
--rewrite-workloads their manifests are printed too, with those of v1. Other kinds are
ignored.

A report says for every field what became of it: what maps, what changes its meaning, what
has no counterpart, and errors. It goes to standard error, or to the file in --report. An
object with an error is not printed, and the command fails. Without --apply or --rollback
nothing is changed.

--check prints no manifests. It reports which nodes of Provisioners the controller would
replace in their NodePools, by its own comparison, with their pods and
PodDisruptionBudgets, and with --policy which rights in AWS its role lacks or does not
need. It asks AWS, with the environment of the controller. Exit code 0: no node would be
replaced, and no right that every cluster needs is missing; 2: otherwise; 1: something
cannot be migrated or checked.

--from cluster-autoscaler reads from AWS the EKS node groups and Auto Scaling groups that
a Cluster Autoscaler scales, by the flags of its Deployment, and prints equivalent
NodePools and EC2NodeClasses, with a file of commands that empty the groups, and that go
back.

--apply migrates the cluster while the controller runs: it creates the new objects, has
NodeClaims of the NodePools take over every node without replacing or restarting it, and
deletes the v1alpha5 objects. No node is disrupted voluntarily meanwhile. You may stop it
at any moment: run it again to continue, or with --rollback to undo it, also afterwards.`,
		Example: `  daemok migrate --apply
  daemok migrate --check --policy controller-policy.json
  daemok migrate > nodepools.yaml
  daemok migrate -f provisioners.yaml > nodepools.yaml
  daemok migrate -f chart.yaml --rewrite-workloads > chart-v1.yaml
  daemok migrate -f manifests/ -R --role KarpenterNodeRole-my-cluster
  daemok migrate --from cluster-autoscaler --keep system --plan empty.sh > nodepools.yaml
  helm template my-chart | daemok migrate -f - -o json --report report.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return m.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&m.paths, "filename", "f", nil, "file or folder with manifests, - for standard input; may be repeated; default the cluster")
	flags.BoolVarP(&m.recursive, "recursive", "R", false, "read subfolders too")
	flags.StringVar(&m.Role, "role", "", "IAM role of nodes, if no instance profile is named")
	flags.StringVar(&m.Kubernetes, "kubernetes-version", "", "version of the cluster, such as 1.27, which selects images; default that of the cluster, without -f")
	flags.BoolVar(&m.RewriteWorkloads, "rewrite-workloads", false, "print manifests of workloads too, with labels and annotations of v1; only with -f")
	m.at.AddTo(cmd)
	m.at.AddAWS(cmd)
	flags.BoolVar(&m.checks, "check", false, "report what would become of nodes, and print no manifests")
	flags.BoolVar(&m.applies, "apply", false, "migrate the cluster, or continue")
	flags.BoolVar(&m.back, "rollback", false, "undo --apply")
	flags.StringSliceVar(&m.policies, "policy", nil, "file with an IAM policy of the controller's role, for --check; may be repeated")
	flags.StringVar(&m.from, "from", "", "autoscaler whose groups are converted: "+fromAutoscaler)
	flags.StringArrayVar(&m.kept, "keep", nil, "group to keep as it is, by its name in EKS or that of its Auto Scaling group, with --from; may be repeated")
	flags.StringVar(&m.plan, "plan", "", "file for the commands that empty the groups and go back, with --from; default standard error")
	flags.StringVar(&m.report, "report", "", "file to write the report to; default standard error")
	m.form.AddTo(flags)
	flags.Lookup("output").Usage = "output format of the report and of --check, as for daemok plan; manifests are always YAML"
	cmd.MarkFlagsMutuallyExclusive("check", "apply", "rollback")
	cmd.MarkFlagsMutuallyExclusive("from", "apply", "rollback")
	cmd.AddCommand(migrateCRDsCommand())
	return cmd
}

func (m *migration) run(ctx context.Context, in io.Reader, out, errOut io.Writer) error {
	version, err := minorVersion(m.Kubernetes)
	if err != nil {
		return err
	}
	m.Kubernetes = version
	if err := m.alone(); err != nil {
		return err
	}
	if m.from != "" {
		return m.runGroups(ctx, in, out, errOut)
	}
	line := progress.Start(ctx, errOut, "reading the cluster")
	defer line.Stop()
	read := m.readFiles
	var cluster reached
	if len(m.paths) == 0 {
		var err error
		if cluster, err = m.reach(m.at); err != nil {
			return err
		}
		if m.back {
			line.Stop()
			return m.rollback(ctx, cluster, out)
		}
		read = func(io.Reader) ([]convert.Document, error) { return m.readCluster(ctx, cluster) }
	} else if m.checks || m.applies || m.back {
		return errors.New("--check, --apply and --rollback are of a cluster: leave -f out")
	}
	documents, err := read(in)
	line.Stop()
	if err != nil {
		return err
	}
	converter, err := convert.New()
	if err != nil {
		return err
	}
	result := converter.Convert(documents, m.Options)
	if m.checks || m.applies {
		if err := m.announce(errOut, result); err != nil {
			return err
		}
		if m.applies {
			return m.apply(ctx, cluster, result, out)
		}
		return m.check(ctx, cluster, result, out)
	}
	text, err := result.YAML()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if err := m.announce(errOut, result); err != nil {
		return err
	}
	if n := result.Refused(); n > 0 {
		return fmt.Errorf("%s, see the report: what has one was not printed", brief.Counted(n, "error"))
	}
	return nil
}

// alone reports options that act only beside another one, which was left out.
func (m *migration) alone() error {
	switch {
	case m.from == "" && len(m.kept) > 0:
		return errors.New("--keep is for groups of another autoscaler: give --from " + fromAutoscaler + " too")
	case m.from == "" && m.plan != "":
		return errors.New("--plan is for groups of another autoscaler: give --from " + fromAutoscaler + " too")
	case !m.checks && len(m.policies) > 0:
		return errors.New("--policy is for --check: give that too")
	}
	return nil
}

// versionOf are major and minor version of what people write.
var versionOf = regexp.MustCompile(`^v?([0-9]+\.[0-9]+)([.+-].*)?$`)

// minorVersion is a version of Kubernetes as images are published for it, such as 1.27.
func minorVersion(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	found := versionOf.FindStringSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("--kubernetes-version %s: write a version such as 1.27", text)
	}
	return found[1], nil
}

func (m *migration) readFiles(in io.Reader) ([]convert.Document, error) {
	var sources []convert.Source
	var names []string
	for _, path := range m.paths {
		list, err := toMigrate(path, m.recursive)
		if err != nil {
			return nil, fmt.Errorf("read manifests: %w", err)
		}
		names = append(names, list...)
		for _, file := range list {
			text, name, err := files.Read(in, file)
			if err != nil {
				return nil, fmt.Errorf("read manifests: %w", err)
			}
			sources = append(sources, convert.Source{Name: name, Data: []byte(text)})
		}
	}
	beside, err := files.Beside(names)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		sources = append(sources, convert.Source{Name: name, Data: beside[name], Beside: true})
	}
	return convert.Read(sources)
}

// readCluster reads the cluster, whose version and whose lack of settings say what files
// leave open.
func (m *migration) readCluster(ctx context.Context, cluster reached) ([]convert.Document, error) {
	if m.RewriteWorkloads {
		return nil, errors.New("--rewrite-workloads rewrites manifests, and not what a cluster has: give them by -f, and apply them as usual")
	}
	documents, err := live.Read(ctx, cluster, m.at.SystemNamespace())
	if err != nil {
		return nil, err
	}
	switches, err := gates.Core(os.Getenv("FEATURE_GATES"))
	if err != nil {
		return nil, fmt.Errorf("FEATURE_GATES %w", err)
	}
	m.Kubernetes, m.NoDrift = cmp.Or(m.Kubernetes, cluster.kubernetes), true
	if switches.Said(gates.Drift) {
		on := switches.On(gates.Drift)
		m.Gate = &on
	}
	return documents, nil
}

// announce writes the report where it is wanted.
func (m *migration) announce(errOut io.Writer, r *convert.Result) error {
	if m.report == "" {
		return m.form.Print(errOut, reported(r))
	}
	var text bytes.Buffer
	if err := m.form.Print(&text, reported(r)); err != nil {
		return err
	}
	return os.WriteFile(m.report, text.Bytes(), 0o644)
}

// reported is the report in all forms.
func reported(r *convert.Result) output.Answer {
	a := output.Answer{Value: struct {
		Objects []convert.Entry `json:"objects"`
	}{append([]convert.Entry{}, r.Report...)}}
	for _, e := range r.Report {
		a.Rows = append(a.Rows, output.Row{Object: output.Refer(strings.Replace(e.Object, " ", "/", 1)), Value: e})
	}
	a.Text = func(out io.Writer) error {
		_, err := io.WriteString(out, reportText(r))
		return err
	}
	return a
}

func reportText(r *convert.Result) string {
	if len(r.Report) == 0 {
		return "nothing of an older API generation was found\n"
	}
	text := ""
	for _, e := range r.Report {
		text += e.Object
		if len(e.Made) > 0 {
			text += " -> " + strings.Join(e.Made, ", ")
		}
		text += "\n"
		for _, f := range e.Findings {
			text += "  " + f.String() + "\n"
		}
	}
	return text
}

// toMigrate are the files to read of a path, in the order of their names.
func toMigrate(path string, recursive bool) ([]string, error) {
	if path == "-" || strings.Contains(path, "://") {
		return files.Of(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	err = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && at != path && !recursive:
			return fs.SkipDir
		case !e.IsDir() && files.HasManifests(at):
			out = append(out, at)
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("folder %s has no file that ends in .yaml, .yml, .json or .tf; -R reads folders in it too", path)
	}
	return out, err
}
