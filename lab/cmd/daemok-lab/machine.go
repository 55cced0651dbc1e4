package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/lab/control"
	"github.com/daemok/daemok/lab/machine"
)

// whichInstance explains the argument that names instances.
const whichInstance = "INSTANCE is an instance ID, a node name, or a pattern such as 'ip-10-*'."

func machineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "List the emulated instances, and cause faults in them",
		Long:  "List the emulated instances, and cause faults in them. " + whichInstance,
		Args:  oneVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	folder := groupFolderFlag(cmd)
	cmd.AddCommand(machineListCommand(folder), machineConsoleCommand(folder),
		deedCommand(folder, control.Silence, "Have kubelets hang: they report nothing and start no pod"),
		deedCommand(folder, control.Wake, "End the silence of kubelets"),
		deedCommand(folder, control.Reboot, "Reboot instances"),
		machineConditionCommand(folder), machineNextCommand(folder), bootsCommand(folder))
	return cmd
}

// withLab sends a command to the lab of a folder, in bounded time.
func withLab(ctx context.Context, folder string, order func(context.Context, *control.Client) error) error {
	d, err := running(folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return order(ctx, control.Dial(d.ControlSocket()))
}

func machineListCommand(folder *string) *cobra.Command {
	cmd := &cobra.Command{Use: "list [INSTANCE]", Short: "List instances that run, with their state", Args: cobra.MaximumNArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withLab(cmd.Context(), *folder, func(ctx context.Context, lab *control.Client) error {
			found, err := lab.Machines(ctx, strings.Join(append(args, "*")[:1], ""))
			if err != nil {
				return err
			}
			return printMachines(os.Stdout, found)
		})
	}
	return cmd
}

func printMachines(out io.Writer, list []control.Machine) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "INSTANCE\tNODE\tTYPE\tZONE\tSTATE")
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.ID, m.Node, m.Type, m.Zone, m.State)
	}
	return w.Flush()
}

func machineConsoleCommand(folder *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "console INSTANCE",
		Short: "Print the console output of an instance, such as why it did not join",
		Args:  cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withLab(cmd.Context(), *folder, func(ctx context.Context, lab *control.Client) error {
			found, err := lab.Machines(ctx, args[0])
			if err != nil {
				return err
			}
			for _, m := range found {
				for _, line := range m.Console {
					fmt.Println(m.ID, line)
				}
			}
			return nil
		})
	}
	return cmd
}

// deedCommand does something to instances that needs no more words.
func deedCommand(folder *string, deed control.Deed, short string) *cobra.Command {
	cmd := &cobra.Command{Use: string(deed) + " INSTANCE", Short: short, Long: short + ".\n" + whichInstance, Args: cobra.ExactArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return act(cmd.Context(), *folder, control.Act{Machine: args[0], Deed: deed})
	}
	return cmd
}

func act(ctx context.Context, folder string, order control.Act) error {
	return withLab(ctx, folder, func(ctx context.Context, lab *control.Client) error {
		done, err := lab.Act(ctx, order)
		if err != nil {
			return fmt.Errorf("%s: %w", order.Deed, err)
		}
		for _, m := range done {
			fmt.Printf("lab: %s %s (%s)\n", order.Deed, m.ID, m.Node)
		}
		return nil
	})
}

func machineConditionCommand(folder *string) *cobra.Command {
	var c control.Condition
	cmd := &cobra.Command{
		Use:   "condition INSTANCE TYPE=STATUS | TYPE-",
		Short: "Have nodes report a condition, or take that back: KernelDeadlock=True, KernelDeadlock-",
		Long: `Have nodes report a condition such as KernelDeadlock=True until it is taken
back with KernelDeadlock-. One of the kubelet's own, such as Ready=False, takes
that one's place. ` + whichInstance,
		Args: cobra.ExactArgs(2),
	}
	cmd.Flags().StringVar(&c.Reason, "reason", "SetInLab", "reason of the condition")
	cmd.Flags().StringVar(&c.Message, "message", "condition set in the lab", "message of the condition")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if c.Type, c.Status, err = conditionOf(args[1]); err != nil {
			return err
		}
		return act(cmd.Context(), *folder, control.Act{Machine: args[0], Deed: control.Report, Condition: c})
	}
	return cmd
}

// conditionOf reads TYPE=STATUS, or TYPE- without a status.
func conditionOf(text string) (kind, status string, err error) {
	if kind, status, ok := strings.Cut(text, "="); ok && kind != "" && status != "" {
		return kind, status, nil
	}
	if kind, ok := strings.CutSuffix(text, "-"); ok && kind != "" {
		return kind, "", nil
	}
	return "", "", fmt.Errorf("condition %q: want TYPE=STATUS such as KernelDeadlock=True, or KernelDeadlock- to take it back", text)
}

// behaviour is how instances to come shall behave.
type behaviour struct {
	bootAfter     time.Duration
	neverRegister bool
	neverReady    bool
	silentAfter   time.Duration
	condition     string
	mend          bool
}

func machineNextCommand(folder *string) *cobra.Command {
	var b behaviour
	cmd := &cobra.Command{
		Use:   "next TYPE",
		Short: "Have instances that boot from now on be late, never register, or the like",
		Long: `Say how instances of a type, or of all that match a pattern such as 'c5.*',
behave from their next boot on. It lasts until another such order
for the same TYPE, --mend, or the lab's end. Tags of an instance, such as
lab.daemok.sh/never-register=true, say the same of it alone.`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.DurationVar(&b.bootAfter, "boot-after", 0, "boot this much later than drawn")
	flags.BoolVar(&b.neverRegister, "never-register", false, "never start the kubelet")
	flags.BoolVar(&b.neverReady, "never-ready", false, "register and stay NotReady")
	flags.DurationVar(&b.silentAfter, "silent-after", -1, "go silent this long after the node is ready")
	flags.StringVar(&b.condition, "condition", "", "report a condition such as KernelDeadlock=True")
	flags.BoolVar(&b.mend, "mend", false, "behave well again")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tags, err := b.tags()
		if err != nil {
			return err
		}
		return withLab(cmd.Context(), *folder, func(ctx context.Context, lab *control.Client) error {
			return lab.Next(ctx, control.Next{Kind: args[0], Tags: tags})
		})
	}
	return cmd
}

// tags say the behaviour as the tags of an instance would.
func (b behaviour) tags() (map[string]string, error) {
	tags := map[string]string{}
	if b.bootAfter > 0 {
		tags[machine.TagBootAfter] = b.bootAfter.String()
	}
	if b.neverRegister {
		tags[machine.TagNeverRegister] = "true"
	}
	if b.neverReady {
		tags[machine.TagNeverReady] = "true"
	}
	if b.silentAfter >= 0 {
		tags[machine.TagSilentAfter] = b.silentAfter.String()
	}
	if b.condition != "" {
		if _, status, err := conditionOf(b.condition); err != nil || status == "" {
			return nil, fmt.Errorf("--condition is %q: want TYPE=STATUS such as KernelDeadlock=True", b.condition)
		}
		tags[machine.TagCondition] = b.condition
	}
	if b.mend == (len(tags) > 0) {
		return nil, fmt.Errorf("no behaviour of the instances: want one flag or more, or --mend alone")
	}
	return tags, nil
}
