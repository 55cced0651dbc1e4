package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/lab/control"
)

func iceCommand() *cobra.Command {
	var order control.Ice
	cmd := &cobra.Command{
		Use:   "ice TYPE",
		Short: "Have AWS run out of an instance type, or of all that match a pattern such as 'c5.*'",
		Long: `Have AWS answer InsufficientInstanceCapacity for an instance type, or for all
that match a pattern such as 'c5.*'. It lasts until --melt or until the lab ends.`,
		Args: cobra.ExactArgs(1),
	}
	folder := folderFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&order.Zone, "zone", "*", "in this zone alone, or those that match")
	flags.StringVar(&order.Option, "option", "*", "on-demand or spot alone")
	flags.IntVar(&order.Machines, "left", 0, "machines that each type still has in each zone")
	flags.BoolVar(&order.Melt, "melt", false, "have plenty again")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		order.Kind = args[0]
		if order.Machines < 0 {
			return fmt.Errorf("--left is %d: want 0 or more", order.Machines)
		}
		d, err := running(*folder)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), askWithin)
		defer cancel()
		pools, err := control.Dial(d.ControlSocket()).Ice(ctx, order)
		if err != nil {
			return err
		}
		fmt.Printf("lab: changed %d pools of capacity\n", pools)
		return nil
	}
	return cmd
}
