package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/lab/control"
	awscontrol "github.com/daemok/daemok/test/emulator/control"
)

func awsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "aws",
		Short: "See the calls to the emulated AWS, and change its account",
		Args:  oneVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	folder := groupFolderFlag(cmd)
	cmd.AddCommand(
		roleCommand(folder, "unmap-role", false, "Have the cluster refuse nodes with a role, as without an access entry"),
		roleCommand(folder, "map-role", true, "Have the cluster accept nodes with a role again"),
		rightsCommand(folder, "deny", true, "Take the right to call an action away"),
		rightsCommand(folder, "allow", false, "Give the right to call an action back"),
		quotaCommand(folder),
		updateCommand(folder),
		callsCommand(folder),
		ordersCommand(folder),
	)
	return cmd
}

func rightsCommand(folder *string, verb string, denied bool, short string) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " ACTION",
		Short: short,
		Long:  short + ", such as CreateFleet, or all that match a pattern such as 'Create*'.\nIt lasts until the lab ends at most.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withAWS(cmd.Context(), *folder, func(ctx context.Context, aws *awscontrol.Client) error {
				actions, err := aws.Rights(ctx, awscontrol.Rights{Action: args[0], Denied: denied})
				if err == nil {
					fmt.Println("lab:", verb, strings.Join(actions, ", "))
				}
				return err
			})
		},
	}
}

func quotaCommand(folder *string) *cobra.Command {
	return &cobra.Command{
		Use:   "quota CODE VCPUS",
		Short: "Limit the vCPUs of a kind of instances, as Service Quotas does",
		Long: `Limit how many vCPUs the running instances of a kind may have in all, by the code
that Service Quotas has for the limit, such as L-1216C47A for the standard
families on demand, or L-34B43A08 for those on spot. ` + "`aws service-quotas\nlist-service-quotas --service-code ec2`" + ` lists all.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			vCPUs, err := strconv.Atoi(args[1])
			if err != nil {
				return fmt.Errorf("vCPUs are %q: want a number", args[1])
			}
			return withAWS(cmd.Context(), *folder, func(ctx context.Context, aws *awscontrol.Client) error {
				name, err := aws.Quota(ctx, awscontrol.Quota{Code: args[0], VCPUs: vCPUs})
				if err == nil {
					fmt.Printf("lab: %s: %d vCPUs\n", name, vCPUs)
				}
				return err
			})
		},
	}
}

func updateCommand(folder *string) *cobra.Command {
	return &cobra.Command{
		Use:   "update-cluster VERSION",
		Short: "Have EKS update the cluster to the next minor version, such as 1.36",
		Long: `Have EKS say that the cluster is updated to the next minor version, as
UpdateClusterVersion does. The API server of the lab stays as it is: start the lab
with an earlier --eks-version, and with EKS_CONTROL_PLANE=true in the environment,
so that the controller goes by what EKS says.`,
		Example: "  EKS_CONTROL_PLANE=true daemok lab up --detach --eks-version 1.35\n  daemok lab aws update-cluster 1.36",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withAWS(cmd.Context(), *folder, func(ctx context.Context, aws *awscontrol.Client) error {
				ends, err := aws.Update(ctx, awscontrol.Update{Version: args[0]})
				if err == nil {
					fmt.Printf("lab: the cluster is at %s from %s on\n", args[0], ends.Format(time.RFC3339))
				}
				return err
			})
		},
	}
}

// callsCommand prints what was asked, one action a line, and what the instances have cost.
func callsCommand(folder *string) *cobra.Command {
	return &cobra.Command{
		Use:   "calls",
		Short: "Print how often each action was called, and what all instances have cost",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAWS(cmd.Context(), *folder, func(ctx context.Context, aws *awscontrol.Client) error {
				s, err := aws.Status(ctx)
				if err != nil {
					return err
				}
				for _, action := range slices.Sorted(maps.Keys(s.Calls)) {
					fmt.Printf("%6d %s\n", s.Calls[action], action)
				}
				fmt.Printf("lab: %d instances, $%.4f so far\n", s.Instances, s.CostUSD)
				return nil
			})
		},
	}
}

// ordersCommand prints what is not as on an ordinary day, and how that is ended.
func ordersCommand(folder *string) *cobra.Command {
	return &cobra.Command{
		Use:   "orders",
		Short: "Print the active faults, and how to end them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAWS(cmd.Context(), *folder, func(ctx context.Context, aws *awscontrol.Client) error {
				s, err := aws.Status(ctx)
				if err != nil {
					return err
				}
				in := inForce(s)
				for _, line := range in {
					fmt.Println("lab:", line)
				}
				if len(in) == 0 {
					fmt.Println("lab: none, AWS does as on an ordinary day")
				}
				return nil
			})
		},
	}
}

// inForce are the commands that have not ended, a line each, with what ends them.
func inForce(s awscontrol.Status) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, zone := range s.Out {
		say("zone %[1]s is cut off (outage %[1]s --end)", zone)
	}
	if s.Limited > 0 {
		say("the capacity of %d pools is as ordered (ice '*' --melt)", s.Limited)
	}
	if s.Priced > 0 {
		say("the price of %d pools is as ordered (price '*' --end)", s.Priced)
	}
	if s.Refused > 0 {
		say("launches are refused in %d pools (refuse '*' --end)", s.Refused)
	}
	if len(s.Throttled) > 0 {
		say("the limits of %d actions are as ordered (throttle '*' --end): %s", len(s.Throttled), strings.Join(s.Throttled, ", "))
	}
	for _, f := range s.Faults {
		say("calls of %[1]s are to fail with %[2]s (fault %[1]s --end)", f.Action, f.Code)
	}
	if len(s.Denied) > 0 {
		say("rights are missing (aws allow '*'): %s", strings.Join(s.Denied, ", "))
	}
	if s.Ahead > 0 {
		say("its clocks are %v ahead, for good", s.Ahead)
	}
	if s.Skewed != 0 {
		say("it judges dates of callers by a clock that is %v ahead of theirs (clock --skew 0)", s.Skewed)
	}
	return lines
}

func roleCommand(folder *string, verb string, mapped bool, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   verb + " ROLE",
		Short: short,
		Long: short + `.
Nodes that have joined stay; instances that were refused join when their role is
mapped again. ROLE is the name of an IAM role, such as KarpenterNodeRole-lab.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withLab(cmd.Context(), *folder, func(ctx context.Context, lab *control.Client) error {
			if err := lab.MapRole(ctx, control.Role{Name: args[0], Mapped: mapped}); err != nil {
				return fmt.Errorf("%s: %w", verb, err)
			}
			return nil
		})
	}
	return cmd
}
