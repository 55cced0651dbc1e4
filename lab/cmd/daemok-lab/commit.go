package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/test/emulator/control"
)

func commitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "commit",
		Short: "Add Reserved Instances or a Savings Plan to the account",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(commitInstancesCommand(), commitPlanCommand())
	return cmd
}

func commitInstancesCommand() *cobra.Command {
	var order control.ReservedInstances
	cmd := account(&cobra.Command{
		Use:   "instances TYPE COUNT",
		Short: "Add Reserved Instances of a type to the account",
		Long: `Add Reserved Instances to the account and print their ID. They begin now, and
end after their term by the clock of AWS (daemok lab clock). They launch nothing
and hold no capacity.`,
		Example: `  daemok lab commit instances m5.large 4
  daemok lab commit instances m5.large 4 --zone us-east-1a --for 1h`,
		Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return "", fmt.Errorf("COUNT is %q: want a number of instances", args[1])
		}
		order.Kind, order.Machines = args[0], n
		id, err := aws.ReservedInstances(ctx, order)
		return "added Reserved Instances " + id, err
	})
	flags := cmd.Flags()
	flags.StringVar(&order.Zone, "zone", "", "make them zonal (default they are regional)")
	flags.StringVar(&order.Platform, "platform", "", "product description, such as Windows (default Linux/UNIX)")
	flags.BoolVar(&order.Dedicated, "dedicated", false, "of dedicated tenancy")
	flags.BoolVar(&order.Convertible, "convertible", false, "of the convertible class")
	flags.DurationVar(&order.For, "for", 0, "their term (default a year)")
	return cmd
}

func commitPlanCommand() *cobra.Command {
	var order control.SavingsPlan
	cmd := account(&cobra.Command{
		Use:   "plan TYPE USD",
		Short: "Add a Savings Plan of so many dollars an hour: Compute, EC2Instance or SageMaker",
		Long: `Add a Savings Plan to the account and print its ID. It begins now, and ends
after its term by the clock of AWS (daemok lab clock). Its rates are list prices
on demand less its discount.`,
		Example: `  daemok lab commit plan Compute 1.50
  daemok lab commit plan EC2Instance 0.25 --family m5 --discount 0.4`,
		Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, aws *control.Client, args []string) (string, error) {
		usd, err := strconv.ParseFloat(args[1], 64)
		if err != nil {
			return "", fmt.Errorf("USD is %q: want dollars an hour, such as 1.50", args[1])
		}
		order.Type, order.USD = args[0], usd
		id, err := aws.SavingsPlan(ctx, order)
		return "added Savings Plan " + id, err
	})
	flags := cmd.Flags()
	flags.StringVar(&order.Family, "family", "", "instance family of an EC2Instance plan, such as m5")
	flags.StringVar(&order.Region, "region", "", "region of an EC2Instance plan (default the lab's)")
	flags.Float64Var(&order.Discount, "discount", 0,
		"share of the price on demand that it saves (default the usual one of its type)")
	flags.DurationVar(&order.For, "for", 0, "its term (default a year)")
	return cmd
}
