package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/migrate/handback"
	"github.com/daemok/daemok/ui/progress"
)

func handbackCommand(open inspect.Connector) *cobra.Command {
	at, check, lease, form := inspect.NewTarget(), false, "", output.New().WithoutNames()
	cmd := &cobra.Command{
		Use:   "handback",
		Short: "Prepare a cluster for Karpenter to take over, without touching a node",
		Long: `Hand a cluster back to Karpenter. Keep the controller running until no node is launching
or terminating: this command waits for that. From its start no node is disrupted
voluntarily (ConfigMap daemok-freeze). Then stop the controller. The command waits for its
lease, holds it so that no controller acts, removes what only Daemok uses, and releases the
lease for Karpenter.

Nodes and pods keep running. Of nodes that were to empty, the taint daemok.sh/emptying and
the deletion costs that Daemok gave to pods are removed; settings that users wrote on their
own objects stay. You may stop the command at any moment and run it again; to keep the
cluster after all, start the controller. With --check nothing is changed.`,
		Example: `  daemok handback --check
  daemok handback`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !check && !form.Is(output.Table) {
				return errors.New("-o needs --check: without it the command reports each step while it takes it")
			}
			store, err := open(at)
			if err != nil {
				return err
			}
			line := progress.Start(cmd.Context(), cmd.ErrOrStderr(), "reading the cluster")
			defer line.Stop()
			h, out := handback.Handback{Store: store, Namespace: at.SystemNamespace()}, line.Over(cmd.OutOrStdout())
			key, err := leaseToHold(cmd.Context(), at, store, lease)
			if err != nil {
				return err
			}
			if check {
				return checkHandback(cmd.Context(), h, out, form)
			}
			line.Step("waiting until no node is launching or terminating")
			if err := awaitRest(cmd.Context(), h, out); err != nil {
				return err
			}
			lock, err := leaseLock(at, key)
			if err != nil {
				return err
			}
			reportHolder(cmd.Context(), at, store, key, out)
			line.Step("waiting for lease %s", key)
			return underLease(cmd.Context(), lock, func(ctx context.Context) error { return cleanCluster(ctx, h, out) })
		},
	}
	at.AddTo(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "list what has to end first, and change nothing")
	cmd.Flags().StringVar(&lease, "lease", "", "lease that the controllers lead by, as NAMESPACE/NAME; default as the installed controller has it")
	form.AddTo(cmd.Flags())
	return cmd
}

var errHandbackStopped = errors.New("stopped; give the command again to go on, or delete ConfigMap daemok-freeze to keep the cluster")

// checkHandback reports what stands in the way. It fails where something does not pass by itself.
func checkHandback(ctx context.Context, h handback.Handback, out io.Writer, form *output.Format) error {
	state, err := h.Look(ctx)
	if err != nil {
		return err
	}
	wrong := refused(state)
	if wrong != nil && form.ForPeople() {
		return wrong
	}
	same := func(line string) string { return line }
	view := handbackJSON{state.Claims, output.Each(state.Waits, same), output.Each(state.Refuses, same)}
	err = form.Print(out, output.Answer{Value: view, Rows: []output.Row{{Value: view}}, Text: func(out io.Writer) error {
		for _, line := range state.Waits {
			fmt.Fprintln(out, "waits:", line)
		}
		_, err := fmt.Fprintf(out, "%s can be handed back, %s to wait for first\n", brief.Counted(state.Claims, "NodeClaim"), brief.Counted(len(state.Waits), "thing"))
		return err
	}})
	return cmp.Or(err, wrong)
}

// handbackJSON is what stands in the way of a handback, as scripts read it.
type handbackJSON struct {
	Claims  int      `json:"claims"`  // that can be handed back
	Waits   []string `json:"waits"`   // passes by itself
	Refuses []string `json:"refuses"` // does not
}

func refused(state handback.State) error {
	if len(state.Refuses) == 0 {
		return nil
	}
	return fmt.Errorf("the cluster cannot be handed back:\n  %s", strings.Join(state.Refuses, "\n  "))
}

// awaitRest freezes the cluster and waits until nothing is on its way any more.
func awaitRest(ctx context.Context, h handback.Handback, out io.Writer) error {
	last := ""
	for frozen := false; ; {
		state, err := h.Look(ctx)
		if ctx.Err() != nil {
			return errHandbackStopped
		}
		if err != nil {
			return err
		}
		if err := refused(state); err != nil {
			return err
		}
		if !frozen {
			if err := h.Freeze(ctx); err != nil {
				return err
			}
			frozen = true
			fmt.Fprintln(out, "no node is disrupted voluntarily any more")
			continue // what had begun before may show now
		}
		if len(state.Waits) == 0 {
			_, err := fmt.Fprintf(out, "all %d NodeClaims are ready\n", state.Claims)
			return err
		}
		if text := strings.Join(state.Waits, "\n"); text != last {
			last = text
			fmt.Fprintf(out, "waiting, while the controller goes on:\n  %s\n", strings.Join(state.Waits, "\n  "))
		}
		if pause.For(ctx, checkEvery) != nil {
			return errHandbackStopped
		}
	}
}

// cleanCluster takes away what is Daemok's alone, unless something has begun meanwhile.
func cleanCluster(ctx context.Context, h handback.Handback, out io.Writer) error {
	state, err := h.Look(ctx)
	if err != nil {
		return err
	}
	if len(state.Refuses)+len(state.Waits) > 0 {
		return fmt.Errorf("something has begun before the controller stopped; start it again and repeat the command:\n  %s",
			strings.Join(append(state.Refuses, state.Waits...), "\n  "))
	}
	done, err := h.Clean(ctx)
	if err != nil {
		return fmt.Errorf("%s; repeat the command to go on: %w", done, err)
	}
	_, err = fmt.Fprintf(out, "%s\nthe cluster is Karpenter's: start it. To take the cluster back stop it and start Daemok's controller\n", done)
	return err
}

// leaseLock is the lease that controllers hold, as a holder of our own that does nothing.
func leaseLock(at *inspect.Target, key client.ObjectKey) (resourcelock.Interface, error) {
	config, err := at.Config()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this process for the lease: %w", err)
	}
	return resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, key.Namespace, key.Name,
		resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("handback-%s_%d", host, os.Getpid())}, config, 2*fence.RenewalTimeout) // half of it is the timeout
}

// underLease does something while no other holds the lease, and releases it after.
func underLease(ctx context.Context, lock resourcelock.Interface, do func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	leading, ended := make(chan context.Context, 1), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: fence.LeaseFor, RenewDeadline: fence.RenewFor, RetryPeriod: fence.RenewEvery, ReleaseOnCancel: true, Name: lock.Describe(),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { leading <- ctx },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		stop()
		return fmt.Errorf("prepare lease %s: %w", lock.Describe(), err)
	}
	// Of what the elector says only errors are reported: what it does the command says itself.
	failures := logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	go func() {
		defer close(ended)
		elector.Run(klog.NewContext(ctx, failures))
	}()
	defer func() {
		stop() // which gives the lease up
		<-ended
	}()
	select {
	case held := <-leading:
		return do(held)
	case <-ctx.Done():
		return fmt.Errorf("while waiting for lease %s: %w", lock.Describe(), errHandbackStopped)
	}
}

// reportHolder says which controller is to be stopped. Where the lease cannot be read it is waited
// for without a message.
func reportHolder(ctx context.Context, at *inspect.Target, store client.Reader, key client.ObjectKey, out io.Writer) {
	lease := &coordinationv1.Lease{}
	if err := store.Get(ctx, key, lease); err != nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return
	}
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	name := "NAME"
	if d := at.Controller.Deployment; d != nil {
		name = d.Name
	}
	fmt.Fprintf(out, "now stop the controller, which runs in pod %s and holds lease %s: kubectl -n %s scale deployment %s --replicas 0\n", pod, key, at.SystemNamespace(), name)
}

// leaseToHold is the lease that the controllers lead by: the one that is given, else as this environment or the installed
// controller has it. What is not known is not guessed: under another lease nothing would keep a controller from acting.
func leaseToHold(ctx context.Context, at *inspect.Target, store client.Reader, given string) (client.ObjectKey, error) {
	if err := at.Learn(ctx, store); err != nil {
		return client.ObjectKey{}, err
	}
	if given == "" {
		return leaseOfController(ctx, at, store)
	}
	namespace, name, is := strings.Cut(given, "/")
	if !is || namespace == "" || name == "" || strings.Contains(name, "/") {
		return client.ObjectKey{}, fmt.Errorf("--lease is %q: want NAMESPACE/NAME, such as %s/%s", given, at.SystemNamespace(), installation.UsualLease)
	}
	return client.ObjectKey{Namespace: namespace, Name: name}, nil
}

// leaseOfController is the lease by the settings of the controller, once learn has searched for it.
func leaseOfController(ctx context.Context, at *inspect.Target, store client.Reader) (client.ObjectKey, error) {
	const way = "name the lease that it leads by with --lease NAMESPACE/NAME"
	if at.Controller.Namespace == "" && os.Getenv("LEADER_ELECTION_NAME") == "" {
		return client.ObjectKey{}, fmt.Errorf("the lease of the controller is not known: %s", way)
	}
	if at.Controller.Deployment == nil {
		if where, err := installation.Namespaces(ctx, store); err == nil && len(where) > 0 {
			return client.ObjectKey{}, fmt.Errorf("namespace %s has no controller, and namespace %s has: give --system-namespace %s", at.SystemNamespace(), strings.Join(where, ", "), where[0])
		}
	}
	for _, name := range []string{"LEADER_ELECTION_NAME", "LEADER_ELECTION_NAMESPACE", "DISABLE_LEADER_ELECTION"} {
		if object := at.Controller.Unread(name); object != "" && os.Getenv(name) == "" {
			return client.ObjectKey{}, fmt.Errorf("the controller may have %s from %s, which is not read: %s", name, object, way)
		}
	}
	lease := at.Lease()
	if lease.IsNone() {
		return client.ObjectKey{}, errors.New("the controller leads by no lease (DISABLE_LEADER_ELECTION), so nothing shows whether it has stopped: " +
			"set DISABLE_LEADER_ELECTION to false in its Deployment, or, once it has no pod any more, name a lease to hold meanwhile with --lease NAMESPACE/NAME")
	}
	return client.ObjectKey(lease), nil
}
