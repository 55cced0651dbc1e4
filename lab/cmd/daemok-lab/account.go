package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	lab "github.com/daemok/daemok/lab/control"
	"github.com/daemok/daemok/test/emulator/control"
)

// withAWS sends a command to the emulated AWS of the lab in a folder, in bounded time.
func withAWS(ctx context.Context, folder string, order func(context.Context, *control.Client) error) error {
	return withLab(ctx, folder, func(ctx context.Context, client *lab.Client) error {
		s, err := client.Status(ctx)
		if err != nil {
			return err
		}
		if s.Phase != lab.Ready {
			return fmt.Errorf("the lab is %s: try again when it is ready", s.Phase)
		}
		return order(ctx, control.At(s.AWSControl))
	})
}

// accountCommands change what the emulated AWS has, asks and answers.
func accountCommands() []*cobra.Command {
	return []*cobra.Command{
		iceCommand(), priceCommand(), throttleCommand(), faultCommand(), outageCommand(), clockCommand(),
		reserveCommand(), reclaimCommand(), commitCommand(), shiftCommand(), refuseCommand(),
	}
}

// account makes a verb that sends one command to the emulated AWS and prints what came of
// it.
func account(cmd *cobra.Command, order func(ctx context.Context, aws *control.Client, args []string) (said string, err error)) *cobra.Command {
	folder := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withAWS(cmd.Context(), *folder, func(ctx context.Context, aws *control.Client) error {
			said, err := order(ctx, aws, args)
			if err == nil {
				fmt.Println("lab:", said)
			}
			return err
		})
	}
	return cmd
}

func iceCommand() *cobra.Command {
	var order control.Ice
	cmd := account(&cobra.Command{
		Use:   "ice TYPE",
		Short: "Have AWS report insufficient capacity of an instance type, or of a pattern such as 'c5.*'",
		Long: `Have AWS answer InsufficientInstanceCapacity for an instance type, or for all
that match a pattern such as 'c5.*'. It lasts until --melt, in labs of the same
folder too.`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		order.Kind = args[0]
		pools, err := aws.Ice(ctx, order)
		return fmt.Sprintf("changed %d pools of capacity", pools), err
	})
	flags := cmd.Flags()
	flags.StringVar(&order.Zone, "zone", "*", "in this zone alone, or those that match")
	flags.StringVar(&order.Option, "option", "*", "on-demand or spot alone")
	flags.IntVar(&order.Machines, "left", 0, "instances that each type still has in each zone")
	flags.BoolVar(&order.Melt, "melt", false, "have plenty again")
	return cmd
}

func priceCommand() *cobra.Command {
	var order control.Price
	cmd := account(&cobra.Command{
		Use:   "price TYPE {--usd P | --times F | --end}",
		Short: "Set the price of an instance type, or of all that match a pattern such as 'c5.*'",
		Long: `Set what AWS asks for an instance type, or for all that match a pattern such as
'c5.*', on the spot market and on demand. It lasts until --end, in labs of the
same folder too. On-demand prices are a region's, so with --zone spot prices
alone are set. Controllers read prices on demand twice a day, spot prices more
often.`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		order.Kind = args[0]
		pools, err := aws.Price(ctx, order)
		return fmt.Sprintf("changed the price of %d pools of capacity", pools), err
	})
	flags := cmd.Flags()
	flags.StringVar(&order.Zone, "zone", "", "spot in this zone alone, or those that match")
	flags.StringVar(&order.Option, "option", "", "on-demand or spot alone")
	flags.Float64Var(&order.USD, "usd", 0, "dollars an hour")
	flags.Float64Var(&order.Times, "times", 0, "as many times the price of now")
	flags.BoolVar(&order.End, "end", false, "let the market make the price again")
	return cmd
}

func throttleCommand() *cobra.Command {
	var order control.Throttle
	cmd := account(&cobra.Command{
		Use:   "throttle ACTION {--rate N | --times F | --end}",
		Short: "Have AWS throttle an action, such as CreateFleet or 'Describe*', earlier",
		Long: `Change how often EC2 may be called: what goes beyond is answered with
RequestLimitExceeded. ACTION is one such as CreateFleet, or a pattern such as
'Describe*' or '*'. It lasts until --end or until the lab ends.`,
		Example: `  daemok lab throttle '*' --times 0.1     # a tenth of what an ordinary day allows
  daemok lab throttle CreateFleet --rate 0.5 --burst 1`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		order.Action = args[0]
		actions, err := aws.Throttle(ctx, order)
		return fmt.Sprintf("changed the limits of %d actions: %s", len(actions), strings.Join(actions, ", ")), err
	})
	flags := cmd.Flags()
	flags.Float64Var(&order.PerSecond, "rate", 0, "calls a second")
	flags.Float64Var(&order.Burst, "burst", 0, "calls at once (default a second's worth)")
	flags.Float64Var(&order.Times, "times", 0, "as many times what an ordinary day allows")
	flags.BoolVar(&order.End, "end", false, "as on an ordinary day again")
	return cmd
}

func faultCommand() *cobra.Command {
	var order control.Fault
	var all bool
	cmd := account(&cobra.Command{
		Use:   "fault ACTION {CODE | --end}",
		Short: "Have a call of an action fail: the next, the nth, or a share by chance",
		Long: `Have calls of an action such as CreateFleet fail with an error code of AWS, such
as InternalError: the next one, or as the flags say. It lasts until all have
failed, --end, or until the lab ends.`,
		Example: `  daemok lab fault CreateFleet InternalError --nth 3
  daemok lab fault DescribeInstances Unavailable --share 0.2 --all
  daemok lab fault CreateFleet InternalError --lost   # EC2 launches, and its answer is lost`,
		Args: cobra.RangeArgs(1, 2),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		order.Action = args[0]
		if order.End != (len(args) == 1) {
			return "", fmt.Errorf("say the error code that calls of %s fail with, such as InternalError, or --end", order.Action)
		}
		if !order.End {
			order.Code = args[1]
		}
		if all {
			order.Times = -1
		}
		faults, err := aws.Fault(ctx, order)
		return fmt.Sprintf("%s has %d faults", order.Action, faults), err
	})
	flags := cmd.Flags()
	flags.IntVar(&order.Nth, "nth", 1, "first call to fail, counted from now on")
	flags.IntVar(&order.Times, "count", 1, "how many calls fail from there on")
	flags.BoolVar(&all, "all", false, "calls fail from there on until --end")
	flags.Float64Var(&order.Share, "share", 0, "share of the calls that fail, by chance: 0.2 is a fifth")
	flags.BoolVar(&order.After, "lost", false, "carry the call out, and lose the answer")
	flags.BoolVar(&order.End, "end", false, "take all faults of the action back")
	cmd.MarkFlagsMutuallyExclusive("count", "all")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if order.Nth < 1 || order.Times < 1 {
			return fmt.Errorf("--nth is %d and --count %d: want 1 or more", order.Nth, order.Times)
		}
		return nil
	}
	return cmd
}

func outageCommand() *cobra.Command {
	var order control.Outage
	cmd := account(&cobra.Command{
		Use:   "outage ZONE",
		Short: "Have a zone fail: no capacity, its kubelets silent, status checks failed",
		Long: `Have a zone fail: AWS has no capacity there, its instances fail both status checks,
and their kubelets are not heard. It lasts until --end, in labs of the same
folder too. Nodes that have no instance in AWS stay.`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		order.Zone = args[0]
		instances, err := aws.Outage(ctx, order)
		how := "is cut off"
		if order.End {
			how = "is there again"
		}
		return fmt.Sprintf("%s %s, with %d instances", order.Zone, how, instances), err
	})
	cmd.Flags().BoolVar(&order.End, "end", false, "end the outage")
	return cmd
}

func clockCommand() *cobra.Command {
	var forward, skew time.Duration
	var cmd *cobra.Command
	cmd = account(&cobra.Command{
		Use:   "clock [--forward D] [--skew D]",
		Short: "Print the time in AWS, move its clocks forward, or set them wrong",
		Long: `Say what time it is at AWS, or put its clocks forward: spot prices move on, image
aliases lead to newer images, what was announced comes. The clocks of the
cluster and the controller stay, so that they see AWS in their future: instances
that are launched from then on seem not to have started yet.

With --skew no time passes, but AWS judges what its callers date by a clock that
is wrong: STS refuses signatures that are more than 15 minutes off, and tokens
of service accounts that have expired by its clock. --skew 0 sets it right.`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, aws *control.Client, _ []string) (string, error) {
		if _, err := aws.Forward(ctx, forward); err != nil {
			return "", err
		}
		if cmd.Flags().Changed("skew") {
			if _, err := aws.Skew(ctx, skew); err != nil {
				return "", err
			}
		}
		s, err := aws.Status(ctx)
		reported := fmt.Sprintf("it is %s at AWS, %v ahead", s.Now.Format(time.RFC3339), s.Ahead)
		if s.Skewed != 0 {
			reported += fmt.Sprintf("; it judges dates of callers by a clock that is %v ahead of theirs", s.Skewed)
		}
		return reported, err
	})
	cmd.Flags().DurationVar(&forward, "forward", 0, "how far, such as 24h")
	cmd.Flags().DurationVar(&skew, "skew", 0, "how far ahead of its callers' clocks AWS believes to be, such as 20m or -20m; 0: not at all")
	return cmd
}
