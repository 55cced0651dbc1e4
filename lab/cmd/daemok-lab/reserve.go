package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/test/emulator/control"
)

func reserveCommand() *cobra.Command {
	var order control.Reserve
	cmd := account(&cobra.Command{
		Use:   "reserve TYPE ZONE COUNT",
		Short: "Reserve capacity for instances of a type: open, targeted, interruptible, or a capacity block",
		Long: `Put a capacity reservation into the account and print its ID. A node class finds
it by its tags. Instances of a capacity block are warned 40 minutes before its
end, and end ten minutes later; of an interruptible reservation when it is
reclaimed (daemok lab reclaim).`,
		Example: `  daemok lab reserve m5.large us-east-1a 3 --tag team=web
  daemok lab reserve m5.large us-east-1a 3 --tag team=web --interruptible
  daemok lab reserve p5.48xlarge us-east-1a 1 --tag team=web --block --for 24h`,
		Args: cobra.ExactArgs(3),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return "", fmt.Errorf("COUNT is %q: want a number of instances", args[2])
		}
		order.Kind, order.Zone, order.Machines = args[0], args[1], n
		id, err := aws.Reserve(ctx, order)
		return "reserved " + id, err
	})
	flags := cmd.Flags()
	flags.BoolVar(&order.Targeted, "targeted", false, "only for instances that name it")
	flags.BoolVar(&order.Interruptible, "interruptible", false, "let its owner reclaim it")
	flags.BoolVar(&order.Block, "block", false, "make it a capacity block, which needs --for")
	flags.DurationVar(&order.For, "for", 0, "end it after so long (default it has no end)")
	flags.StringToStringVar(&order.Tags, "tag", nil, "tag, KEY=VALUE")
	return cmd
}

func reclaimCommand() *cobra.Command {
	var order control.Reclaim
	cmd := account(&cobra.Command{
		Use:   "reclaim RESERVATION",
		Short: "Have the owner of an interruptible capacity reservation take capacity back",
		Long: `Have the owner of an interruptible capacity reservation take all of it back, or
all but so many places. Free places go first. A warning comes to the queue for
each instance beyond, and two minutes later it shuts down.`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		order.Reservation = args[0]
		warned, err := aws.Reclaim(ctx, order)
		var names []string
		for _, i := range warned {
			names = append(names, i.ID)
		}
		return fmt.Sprintf("reclaimed %s, %d instances are warned %s", order.Reservation, len(warned), strings.Join(names, " ")), err
	})
	cmd.Flags().IntVar(&order.Left, "left", 0, "places that it still has")
	return cmd
}
