package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/test/emulator/control"
)

// usualShift is how long a zonal shift lasts where nothing is said.
const usualShift = time.Hour

func shiftCommand() *cobra.Command {
	var order control.Shift
	cmd := account(&cobra.Command{
		Use:   "shift ZONE",
		Short: "Begin a zonal shift away from a zone, or end it",
		Long: `Have Application Recovery Controller shift the cluster's work away from a zone,
as a user does by StartZonalShift, or AWS by itself (--auto). A controller follows
it only if ENABLE_ZONAL_SHIFT=true is set before ` + "`daemok lab up`" + `.`,
		Example: `  daemok lab shift us-east-1a --for 2h
  daemok lab shift us-east-1a --end`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		order.Zone = args[0]
		if order.For == 0 && !order.Auto && !order.End {
			order.For = usualShift
		}
		ended, err := aws.Shift(ctx, order)
		if order.End {
			return fmt.Sprintf("ended %d shifts away from %s", ended, order.Zone), err
		}
		return "work is shifted away from " + order.Zone, err
	})
	flags := cmd.Flags()
	flags.BoolVar(&order.Auto, "auto", false, "make it an autoshift of AWS, which has no end")
	flags.DurationVar(&order.For, "for", 0, "how long a user's shift lasts (default "+usualShift.String()+")")
	flags.BoolVar(&order.End, "end", false, "end the shifts away from the zone")
	return cmd
}

func refuseCommand() *cobra.Command {
	var order control.Refuse
	cmd := account(&cobra.Command{
		Use:   "refuse TYPE {CODE | --end}",
		Short: "Have AWS refuse launches of an instance type, or of all that match a pattern, with an error code",
		Long: `Have AWS refuse launches of an instance type, or of all that match a pattern such
as 'c5.*', with an error code of launches. For insufficient capacity use
daemok lab ice. It lasts until --end or until the lab ends.`,
		Example: `  daemok lab refuse 'c5.*' UnfulfillableCapacity --option spot
  daemok lab refuse '*' MaxSpotInstanceCountExceeded --option spot
  daemok lab refuse '*' --end`,
		Args: cobra.RangeArgs(1, 2),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		order.Kind = args[0]
		if len(args) == 2 {
			order.Code = args[1]
		}
		pools, err := aws.Refuse(ctx, order)
		return fmt.Sprintf("changed %d pools of capacity", pools), err
	})
	flags := cmd.Flags()
	flags.StringVar(&order.Zone, "zone", "*", "in this zone alone, or those that match")
	flags.StringVar(&order.Option, "option", "*", "on-demand or spot alone")
	flags.BoolVar(&order.End, "end", false, "launch them again")
	return cmd
}

// bootsCommand says what becomes of instances that are launched from now on.
func bootsCommand(folder *string) *cobra.Command {
	var order control.Boots
	cmd := &cobra.Command{
		Use:   "boots",
		Short: "Have the next instances terminate before they run, or never join",
		Long: `Have the next instances terminate before they run, for a reason as EC2 gives it, or a
share of all that are launched from now on run and never join the cluster. Each
such order takes the place of the one before, so that without a flag all is well
again.`,
		Example: `  daemok lab machine boots --fail 3 --reason Client.VolumeLimitExceeded
  daemok lab machine boots --never-join 0.1
  daemok lab machine boots                  # everything works again`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.IntVar(&order.Fail, "fail", 0, "how many of the next instances terminate before they run")
	flags.StringVar(&order.Reason, "reason", "Server.InternalError", "why they end")
	flags.Float64Var(&order.NeverJoin, "never-join", 0, "share of instances that never join: 0.1 is a tenth")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withAWS(cmd.Context(), *folder, func(ctx context.Context, aws *control.Client) error {
			err := aws.Boots(ctx, order)
			if err == nil {
				fmt.Println("lab: of the next instances", order.Fail, "terminate before they run, and", strconv.FormatFloat(100*order.NeverJoin, 'f', -1, 64)+" % never join")
			}
			return err
		})
	}
	return cmd
}
