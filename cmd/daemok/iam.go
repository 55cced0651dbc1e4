package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/cloud/aws/audit"
	"github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	deploy "github.com/daemok/daemok/deploy/aws"
	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/access/output"
)

// iamCommand joins what is about the controller's rights at AWS.
func iamCommand(open inspect.Connector) *cobra.Command {
	cmd := &cobra.Command{Use: "iam", Short: "Print the IAM policy that the controller needs, and check whether its role has it"}
	cmd.AddCommand(iamPolicyCommand(open), iamCheckCommand(open))
	return cmd
}

// iamFlags say whose policy is meant. What is empty is looked up.
type iamFlags struct {
	at                        *inspect.Target
	account, partition, queue string
	roles                     []string
	alone, adoption, shifts   bool
	commitments               bool
	shadow                    bool
}

func (f *iamFlags) add(cmd *cobra.Command) {
	f.at.AddTo(cmd)
	cmd.Flags().StringVar(&f.at.ClusterName, "cluster-name", "", "name of the cluster in EKS; default CLUSTER_NAME, else as the controller's Deployment has it")
	cmd.Flags().StringVar(&f.account, "account", "", "AWS account; default that of the AWS credentials")
	cmd.Flags().StringVar(&f.at.Region, "region", "", "AWS region of the cluster; default as the AWS SDK finds it")
	cmd.Flags().StringVar(&f.partition, "partition", "", "AWS partition; default that of the region")
	cmd.Flags().StringSliceVar(&f.roles, "node-role", nil, "role of nodes, by name or ARN; may be repeated; default those of the cluster's classes")
	cmd.Flags().StringVar(&f.queue, "queue", "", "name of the interruption queue; default as the controller's Deployment has it; none: no queue")
	cmd.Flags().BoolVar(&f.alone, "without-cluster", false,
		"do not read the cluster: the policy covers every feature but zonal shifts, commitments and adoption (--zonal-shift, --commitments, --adoption)")
	cmd.Flags().BoolVar(&f.adoption, "adoption", false, "add the right to tag instances that daemok adopt or a migration takes over")
	cmd.Flags().BoolVar(&f.shadow, "shadow", false, "the policy of shadow mode (daemok-controller --shadow), which reads alone")
	cmd.Flags().BoolVar(&f.commitments, "commitments", false,
		"add the rights to read the account's commitments, whatever the controller's Deployment says")
	cmd.Flags().BoolVar(&f.shifts, "zonal-shift", false, "add the right to follow zonal shifts, whatever the controller's Deployment says")
}

// parts are the rights that are meant.
func (f *iamFlags) parts(s rights.Scope) []rights.Part {
	if f.shadow {
		return rights.Shadow(s)
	}
	return rights.Parts(s)
}

// Forms of what flags name. A role has a name, with its path or without, or an ARN.
var (
	accountForm = regexp.MustCompile(`^[0-9]{12}$`)
	roleForm    = regexp.MustCompile(`^(arn:[a-z-]+:iam::[0-9]{12}:role/)?[\w+=,.@/-]+$`)
	regionForm  = regexp.MustCompile(`^[a-z]{2,5}(-[a-z]+)+-[0-9]+$`)
)

// check says of a flag what is wrong with its value.
func (f *iamFlags) check() error {
	switch {
	case f.account != "" && !accountForm.MatchString(f.account):
		return fmt.Errorf("--account is %q: want 12 digits, such as 123456789012", f.account)
	case f.at.Region != "" && !regionForm.MatchString(f.at.Region):
		return fmt.Errorf("--region is %q: want a region, such as eu-west-1", f.at.Region)
	}
	for _, role := range f.roles {
		if !roleForm.MatchString(role) {
			return fmt.Errorf("--node-role is %q: want the name of a role, or its ARN, such as arn:aws:iam::123456789012:role/KarpenterNodeRole-prod", role)
		}
	}
	if known := rights.Partitions(); f.partition != "" && !slices.Contains(known, f.partition) {
		return fmt.Errorf("--partition is %q: want one of %s", f.partition, strings.Join(known, ", "))
	}
	return nil
}

// noQueue is what --queue takes for none.
const noQueue = "none"

func iamPolicyCommand(open inspect.Connector) *cobra.Command {
	f := iamFlags{at: inspect.NewTarget()}
	form, part := output.New("json", "cloudformation", "terraform").WithoutNames(), ""
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Print the minimal IAM policy for the cluster's node classes",
		Long: `Print the IAM policy with exactly the rights that the controller needs for what the
cluster uses: the roles of its EC2NodeClasses, whether these name a role or an instance
profile, images by alias or SSM parameter, capacity reservations and placement groups, and,
from the controller's Deployment, the interruption queue and zonal shifts.

It reads the cluster that KUBECONFIG leads to. With --without-cluster it needs none, and
with --account and --region no AWS credentials either. Print the policy again when a class
uses something new.`,
		Example: `  daemok iam policy
  daemok iam policy -o terraform > policy.tf
  daemok iam policy --shadow
  daemok iam policy --without-cluster --cluster-name prod --account 123456789012 --region eu-west-1 -o cloudformation`,
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return f.check() },
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := iamReader{flags: f, notes: cmd.ErrOrStderr(), open: open}
			scope, err := r.scope(cmd.Context())
			if err != nil {
				return err
			}
			return writePolicy(cmd.OutOrStdout(), cmd.ErrOrStderr(), scope.Cluster, f.parts(scope), form, part)
		},
	}
	f.add(cmd)
	form.AddTo(cmd.Flags())
	cmd.Flags().StringVar(&part, "part", "", "print one part, such as NodeLifecycle: together they are too long for one managed policy")
	return cmd
}

// writePolicy prints the policy of a cluster, or one part of it.
func writePolicy(out, notes io.Writer, cluster string, parts []rights.Part, form *output.Format, part string) error {
	if part != "" {
		var names []string
		for _, p := range parts {
			names = append(names, p.Name)
		}
		plain := strings.NewReplacer("-", "", "_", "").Replace(part) // as files and Terraform have it: node-lifecycle, node_lifecycle
		at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, plain) })
		if at < 0 {
			return fmt.Errorf("there is no part %q of this policy%s it has %s", part, cmp.Or(nearest.DidYouMean(plain, names), ":"), strings.Join(names, ", "))
		}
		parts = parts[at : at+1]
	}
	whole := rights.Whole(parts)
	a := output.Answer{Value: json.RawMessage(whole.JSON()), Text: func(out io.Writer) (err error) {
		switch {
		case form.Is("cloudformation"):
			_, err = io.WriteString(out, deploy.CloudFormation(parts, cluster))
		case form.Is("terraform"):
			_, err = io.WriteString(out, deploy.Terraform(parts, cluster))
		default:
			announce(notes, whole)
			_, err = io.WriteString(out, whole.JSON())
		}
		return err
	}}
	var is struct{ Statement []json.RawMessage }
	if err := json.Unmarshal([]byte(whole.JSON()), &is); err != nil {
		return err
	}
	for _, s := range is.Statement {
		a.Rows = append(a.Rows, output.Row{Value: s})
	}
	return form.Print(out, a)
}

// announce says where a policy is too long to be used as it is.
func announce(notes io.Writer, d policy.Document) {
	switch n := d.Characters(); {
	case n > rights.InlineMax:
		fmt.Fprintf(notes, "The policy has %d characters, more than an inline policy of a role holds (%d): print it with --part, or with -o cloudformation or terraform.\n", n, rights.InlineMax)
	case n > rights.ManagedMax:
		fmt.Fprintf(notes, "The policy has %d characters, more than one managed policy holds (%d): write it into the role (aws iam put-role-policy), or print it with --part, or with -o cloudformation or terraform.\n",
			n, rights.ManagedMax)
	}
}

// iamReader finds out what a policy is for.
type iamReader struct {
	flags   iamFlags
	notes   io.Writer
	open    inspect.Connector
	auditor *audit.Auditor // once something has to be asked of AWS
	found   inCluster      // once the cluster was read
}

// scope is what the policy is for: by the flags, then by the cluster, then by AWS.
func (r *iamReader) scope(ctx context.Context) (rights.Scope, error) {
	if !r.flags.alone {
		store, err := r.open(r.flags.at)
		if err != nil {
			return rights.Scope{}, fmt.Errorf("%w; --without-cluster needs none", err)
		}
		if r.found, err = readIAMUse(ctx, store, r.flags.at.SystemNamespace()); err != nil {
			return rights.Scope{}, err
		}
	}
	found := r.found
	s := rights.Scope{Cluster: cmp.Or(r.flags.at.EKSName(), found.setting("CLUSTER_NAME"))}
	if s.Cluster == "" {
		return s, errNoName
	}
	if err := r.place(ctx, &s); err != nil {
		return s, err
	}
	if found.classes == 0 {
		found.use = rights.Use{Features: rights.Features()}
		if !r.flags.alone {
			fmt.Fprintf(r.notes, "The cluster has no EC2NodeClass yet: the policy is for every feature, and nodes of the role %s.\n", deploy.NodeRolePrefix+s.Cluster)
		}
	}
	r.features(&s, found)
	s.TagKeys = found.use.TagKeys
	for _, name := range found.use.Parameters {
		s.Parameters = append(s.Parameters, s.ParameterARN(name))
	}
	for _, name := range found.use.Templates {
		fmt.Fprintf(r.notes, "Launch template %s is your own: nothing in this policy allows launches from it, nor what it names.\n", name)
	}
	return s, r.roles(ctx, &s, found.use)
}

// errNoName says that nothing names the cluster.
var errNoName = errors.New("no Deployment names the cluster as the controller's does: say --cluster-name NAME, its name in EKS")

// place finds account, region and partition.
func (r *iamReader) place(ctx context.Context, s *rights.Scope) error {
	s.Account, s.Region, s.Partition = r.flags.account, r.flags.at.Region, r.flags.partition
	if s.Account == "" || s.Region == "" {
		a, err := r.aws(ctx)
		if err != nil {
			return fmt.Errorf("%w; --account and --region say what would be looked up there", err)
		}
		s.Region = a.Region()
		if s.Account == "" {
			caller, err := a.Caller(ctx)
			if err != nil {
				return fmt.Errorf("%w; --account says which account is meant", err)
			}
			s.Account = caller.Account
			s.Partition = cmp.Or(s.Partition, caller.Partition)
		}
	}
	s.Partition = cmp.Or(s.Partition, rights.PartitionOf(s.Region))
	return nil
}

// aws connects to AWS once.
func (r *iamReader) aws(ctx context.Context) (*audit.Auditor, error) {
	if r.auditor == nil {
		a, err := audit.Open(ctx, r.flags.at.Region, "daemok-cli")
		if err != nil {
			return nil, err
		}
		r.auditor = a
	}
	return r.auditor, nil
}

// features are those in use: classes decide on some, the controller's settings on others.
func (r *iamReader) features(s *rights.Scope, found inCluster) {
	isolated, _ := strconv.ParseBool(found.setting("ISOLATED_VPC"))
	shifts, _ := strconv.ParseBool(found.setting("ENABLE_ZONAL_SHIFT"))
	commitments, _ := strconv.ParseBool(found.setting("ACCOUNT_COMMITMENTS"))
	queue := cmp.Or(r.flags.queue, found.setting("INTERRUPTION_QUEUE"))
	if queue == "" && found.install.Deployment == nil { // nothing is installed yet: the guides call it as the cluster
		queue = s.Cluster
	}
	queue = queue[strings.LastIndexAny(queue, "/:")+1:] // of a URL or an ARN, with which the controller would not start
	if queue != "" && queue != noQueue {
		s.Queue = deploy.Queue(s.Partition, s.Region, s.Account, queue)
	}
	stable := map[rights.Feature]bool{
		rights.Interruption: s.Queue != "", rights.SharedQueue: s.Queue != "", rights.Prices: !isolated, rights.Quotas: !isolated,
		rights.ZonalShift: shifts || r.flags.shifts, rights.Commitments: commitments || r.flags.commitments,
		rights.Adoption: r.flags.adoption,
	}
	for _, f := range rights.Features() {
		if on, is := stable[f]; on || !is && slices.Contains(found.use.Features, f) {
			s.Features = append(s.Features, f)
		}
	}
}

// roles are those that nodes have: as the flags say, else those of classes, and of the profiles
// that classes name.
func (r *iamReader) roles(ctx context.Context, s *rights.Scope, use rights.Use) error {
	names := slices.Clone(r.flags.roles)
	if len(names) == 0 {
		names = slices.Clone(use.Roles)
		for _, profile := range use.Profiles {
			a, err := r.aws(ctx)
			if err != nil {
				return err
			}
			of, err := a.RolesOfProfile(ctx, profile)
			if err != nil {
				return fmt.Errorf("find the role in instance profile %s, which an EC2NodeClass names: %w; --node-role says which roles nodes have", profile, err)
			}
			if len(of) == 0 {
				return fmt.Errorf("instance profile %s, which an EC2NodeClass names, has no role: add the role of nodes to it", profile)
			}
			names = append(names, of...)
		}
	}
	if len(names) == 0 {
		names = []string{deploy.NodeRolePrefix + s.Cluster}
	}
	for _, name := range names {
		s.NodeRoles = append(s.NodeRoles, s.RoleARN(name))
	}
	slices.Sort(s.NodeRoles)
	s.NodeRoles = slices.Compact(s.NodeRoles)
	return nil
}
