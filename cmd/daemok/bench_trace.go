package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/simulate"
)

// traced is what `bench trace` prints.
type traced struct {
	CostDollars       float64  `json:"costDollars"`
	BoundDollars      float64  `json:"boundDollars"`
	Gap               *float64 `json:"gap"`
	Evictions         int      `json:"evictions"`
	PendingP50Seconds float64  `json:"pendingP50Seconds"`
	PendingP99Seconds float64  `json:"pendingP99Seconds"`
	Instances         int      `json:"machines"` // launched in all
	Seconds           float64  `json:"seconds"`
}

func benchTraceCommand() *cobra.Command {
	o := simulate.Options{Policies: []string{"ours"}}
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "The same as daemok simulate --pods FILE --policy ours; one JSON object on stdout",
		Long: `The same as daemok simulate --pods FILE --policy ours, in the form that it had before: one
JSON object on stdout. No spot instance is interrupted, and prices stay.`,
		Example: `  daemok bench trace --trace pods.csv --catalog types.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := simulate.Run(o)
			if err != nil {
				return err
			}
			x := r.Policies["ours"]
			return json.NewEncoder(cmd.OutOrStdout()).Encode(traced{x.CostDollars, r.BoundDollars, x.Gap, x.Evictions,
				x.PendingP50Seconds, x.PendingP99Seconds, x.Launched, x.Seconds})
		},
	}
	addSimulation(cmd.Flags(), &o)
	cmd.Flags().StringVar(&o.Pods, "trace", "", "file of a recorded cluster: comma separated values with columns cpu_milli, memory_mib, creation_time and deletion_time")
	return cmd
}
