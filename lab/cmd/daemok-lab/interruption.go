package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/test/emulator/control"
)

// interruptionMessageCommands have AWS say something of its instances, and do it.
func interruptionMessageCommands() []*cobra.Command {
	verb := func(deed control.Deed, short, long string, flags func(*cobra.Command, *control.InterruptionMessage)) *cobra.Command {
		order := control.InterruptionMessage{Deed: deed}
		cmd := &cobra.Command{Use: string(deed) + " INSTANCE", Short: short, Long: short + ".\n" + long + "\n" + whichInstance, Args: cobra.ExactArgs(1)}
		folder := folderFlag(cmd)
		flags(cmd, &order)
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			order.Instance = args[0]
			order.Advised = cmd.Flags().Changed("advised-for")
			return withAWS(cmd.Context(), *folder, func(ctx context.Context, aws *control.Client) error {
				about, err := aws.InterruptionMessage(ctx, order)
				for _, i := range about {
					fmt.Printf("lab: %s %s (%s)\n", order.Deed, i.ID, i.PrivateDNS)
				}
				return err
			})
		}
		return cmd
	}
	none := func(*cobra.Command, *control.InterruptionMessage) {}
	return []*cobra.Command{
		verb(control.Interrupt, "Have AWS interrupt spot instances",
			"A warning comes to the queue, and two minutes later the instance shuts down.", func(cmd *cobra.Command, order *control.InterruptionMessage) {
				cmd.Flags().DurationVar(&order.In, "advised-for", 0, "send a rebalance recommendation first, and the warning so much later")
			}),
		verb(control.Rebalance, "Have AWS recommend to replace spot instances", "The recommendation comes to the queue, and no more.", none),
		verb(control.Disruption, "Have AWS schedule the stop or termination of instances",
			"AWS Health sends an event to the queue, and DescribeInstanceStatus shows it. The instance keeps running.", func(cmd *cobra.Command, order *control.InterruptionMessage) {
				cmd.Flags().DurationVar(&order.In, "in", 24*time.Hour, "time until the scheduled stop or termination")
			}),
	}
}
