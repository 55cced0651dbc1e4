package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/lab/directory"
	"github.com/daemok/daemok/lab/up"
)

// readyWithin is how long a lab may take to get up.
const readyWithin = 4 * time.Minute

var eksVersion = regexp.MustCompile(`^1\.[0-9]{2}$`)

// upFlags are the flags of up as the command line gives them.
type upFlags struct {
	folder     string
	detach     bool
	report     int // file descriptor that takes the last line; 0 is stdout
	identity   up.Identity
	seed       uint64
	nodes      int
	timeScale  float64
	draDrivers bool
	controller bool
	install    string
	chart      up.Chart
}

func upCommand() *cobra.Command {
	f := upFlags{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a lab and keep it up until Ctrl-C",
		Long: `Start a lab and keep it up until Ctrl-C. The last line on stdout is
"lab: ready dir=D kubeconfig=K env=E pid=P". Starting again in the same folder
goes on with the same cluster and cloud.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			d, err := directory.At(f.folder)
			if err != nil {
				return err
			}
			if f.detach {
				return detach(cmd.Context(), d)
			}
			return f.run(cmd.Context(), d)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.folder, "dir", usualFolder(), "folder of the lab")
	flags.BoolVar(&f.detach, "detach", false, "return when the lab is ready and leave it running")
	flags.IntVar(&f.report, "report-fd", 0, "")
	_ = flags.MarkHidden("report-fd") // fails for unknown flags alone
	flags.StringVar(&f.identity.Region, "region", "", "AWS region (default us-east-1)")
	flags.StringVar(&f.identity.ClusterName, "cluster-name", "", "name of the EKS cluster (default lab)")
	flags.StringVar(&f.identity.EKSVersion, "eks-version", "", "Kubernetes version that EKS and SSM answer (default 1.36)")
	flags.StringToStringVar(&f.identity.Tags, "tag", nil, "k=v: further tag on subnets and security group; may be repeated")
	flags.IntVar(&f.identity.Ports.API, "port", 0, "port of the API server; 0 keeps that of before, or takes a free one")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the emulated AWS")
	flags.IntVar(&f.nodes, "nodes", 0, "ordinary nodes that belong to no NodePool")
	flags.Float64Var(&f.timeScale, "time-scale", 1, "how long instances take to boot and stop; 1 as on EC2, 0 no time")
	flags.BoolVar(&f.draDrivers, "dra-drivers", false,
		"run stand-ins for the DRA drivers of NVIDIA and Neuron: nodes publish such devices for ResourceClaims")
	flags.BoolVar(&f.controller, "controller", true, "run daemok-controller too; with --install program alone")
	flags.StringVar(&f.install, "install", "", "how Daemok is installed: program, which runs daemok-controller with rights and CustomResourceDefinitions by the lab; chart, or chart=PATH, by Helm, with its pods as processes of this host; none (default program, or as before)")
	flags.StringArrayVar(&f.chart.Values, "values", nil, "file of values for --install chart; may be repeated, later ones count")
	return cmd
}

func (f *upFlags) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("seed") {
		f.identity.Seed = &f.seed
	}
	how, path, _ := strings.Cut(f.install, "=")
	f.identity.Install, f.chart.Path = up.Installation(how), path
	switch {
	case !slices.Contains([]up.Installation{"", up.AsProgram, up.ByChart, up.Nothing}, f.identity.Install) || path != "" && f.identity.Install != up.ByChart:
		return fmt.Errorf("--install is %q: want program, chart, chart=PATH or none", f.install)
	case len(f.chart.Values) > 0 && f.identity.Install != up.ByChart:
		return errors.New("--values are for the chart: give --install chart too")
	case f.identity.Install != "" && f.identity.Install != up.AsProgram && cmd.Flags().Changed("controller"):
		return fmt.Errorf("--controller is for --install program: leave it out with --install %s", f.install)
	case f.identity.EKSVersion != "" && !eksVersion.MatchString(f.identity.EKSVersion):
		return fmt.Errorf("--eks-version is %s: want a minor version as EKS names it, such as 1.36", f.identity.EKSVersion)
	case f.nodes < 0:
		return fmt.Errorf("--nodes is %d: want 0 or more", f.nodes)
	case f.timeScale < 0:
		return fmt.Errorf("--time-scale is %v: want 0 or more", f.timeScale)
	case f.identity.Ports.API < 0 || f.identity.Ports.API > 65535:
		return fmt.Errorf("--port is %d: want 0 to 65535", f.identity.Ports.API)
	}
	return nil
}

// run holds the directory, brings the lab up, and keeps it until ctx ends.
func (f *upFlags) run(ctx context.Context, d directory.Directory) (err error) {
	lock, err := d.Lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	lab, err := f.start(ctx, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Stop()) }()
	if err := f.sayReady(d); err != nil {
		return fmt.Errorf("say that the lab is ready: %w", err)
	}
	<-ctx.Done()
	say("stopping")
	return nil
}

func (f *upFlags) start(ctx context.Context, d directory.Directory) (*up.Lab, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	starting, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	lab, err := up.Start(starting, up.Options{
		Directory: d, Identity: f.identity, Program: program, Nodes: f.nodes,
		TimeScale: f.timeScale, DRADrivers: f.draDrivers, Controller: f.controller, Chart: f.chart, Say: say,
	})
	switch {
	case err == nil:
		return lab, nil
	case ctx.Err() != nil:
		return nil, &exitError{errors.New("stopped before it was ready"), 130}
	case errors.Is(starting.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("not ready within %v, read the logs in %s: %w", readyWithin, d.Logs(), err)
	default:
		return nil, fmt.Errorf("not up, logs are in %s: %w", d.Logs(), err)
	}
}

func (f *upFlags) sayReady(d directory.Directory) error {
	out := os.Stdout
	if f.report > 0 {
		out = os.NewFile(uintptr(f.report), "report")
		defer out.Close()
	}
	_, err := fmt.Fprintf(out, "lab: ready dir=%s kubeconfig=%s env=%s pid=%d\n",
		d.Root(), d.Kubeconfig(), d.Environment(), os.Getpid())
	return err
}

// say writes for people on stderr, so that stdout holds what scripts read.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "lab: "+format+"\n", args...)
}
