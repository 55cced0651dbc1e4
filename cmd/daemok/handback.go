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

	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/handback"
	"github.com/daemok/daemok/kube/installation"
)

func handbackCommand(open connector) *cobra.Command {
	at, check, form := newTarget(), false, output.New().WithoutNames()
	cmd := &cobra.Command{
		Use:   "handback",
		Short: "Make a cluster ready for Karpenter to take over, without touching a node",
		Long: `Hand a cluster back to Karpenter. Until all nodes rest the controller has to run:
those that come are to be ready, those that go to be gone. From the beginning no
node goes by choice (ConfigMap daemok-freeze). Then the controller is to be
stopped: this command waits for its lease, holds it so that nobody acts, takes
away what is Daemok's alone, and gives it up for Karpenter.

Nothing happens to nodes and pods. What users have written for Daemok on their
own objects stays. The command may be stopped at any moment and given again; to
keep the cluster after all, start the controller. With --check nothing is changed.`,
		Example: `  daemok handback --check
  daemok handback`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !check && !form.Is(output.Table) {
				return errors.New("-o is of --check: without it this tells what it does while it does it")
			}
			store, err := open(at)
			if err != nil {
				return err
			}
			h, out := handback.Handback{Store: store, Namespace: systemNamespace()}, cmd.OutOrStdout()
			if check {
				return checkHandback(cmd.Context(), h, out, form)
			}
			if err := awaitRest(cmd.Context(), h, out); err != nil {
				return err
			}
			lock, err := leaseLock(at)
			if err != nil {
				return err
			}
			return underLease(cmd.Context(), store, lock, out, func(ctx context.Context) error { return cleanCluster(ctx, h, out) })
		},
	}
	at.addTo(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "tell what has to be over before, and change nothing")
	form.AddTo(cmd.Flags())
	return cmd
}

var errHandbackStopped = errors.New("stopped; give the command again to go on, or delete ConfigMap daemok-freeze to keep the cluster")

// checkHandback tells what stands in the way. It fails where something does not pass by
// itself.
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
	view := handbackJSON{state.Claims, each(state.Waits, same), each(state.Refuses, same)}
	err = form.Print(out, output.Answer{Value: view, Rows: []output.Row{{Value: view}}, Text: func(out io.Writer) error {
		for _, line := range state.Waits {
			fmt.Fprintln(out, "waits:", line)
		}
		_, err := fmt.Fprintf(out, "%d NodeClaims can be handed back, %d things are to be over first\n", state.Claims, len(state.Waits))
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
			fmt.Fprintln(out, "no node goes by choice any more")
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
		if pause.For(ctx, lookEvery) != nil {
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

// leaseLock is the lease that controllers hold, as somebody of our own who does nothing.
func leaseLock(at *target) (resourcelock.Interface, error) {
	config, err := at.Config()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this process for the lease: %w", err)
	}
	key := leaseKey()
	return resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, key.Namespace, key.Name,
		resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("handback-%s_%d", host, os.Getpid())}, config, 2*fence.RenewalTimeout) // half of it is the timeout
}

// underLease does something while nobody else holds the lease, and gives it up after.
func underLease(ctx context.Context, store client.Reader, lock resourcelock.Interface, out io.Writer, do func(context.Context) error) error {
	tellHolder(ctx, store, out)
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
	// Of what the elector says errors alone are told: what it does the command says itself.
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

// tellHolder says who is to be stopped. Where the lease cannot be read it is waited for
// without a word.
func tellHolder(ctx context.Context, store client.Reader, out io.Writer) {
	key, lease := leaseKey(), &coordinationv1.Lease{}
	if err := store.Get(ctx, key, lease); err != nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return
	}
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	name := "NAME"
	if found, err := installation.Find(ctx, store, systemNamespace()); err == nil && found.Deployment != nil {
		name = found.Deployment.Name
	}
	fmt.Fprintf(out, "now stop the controller, which runs in pod %s and holds lease %s: kubectl -n %s scale deployment %s --replicas 0\n", pod, key, systemNamespace(), name)
}

// leaseKey is the lease that controllers hold.
func leaseKey() client.ObjectKey {
	return client.ObjectKey{
		Namespace: cmp.Or(os.Getenv("LEADER_ELECTION_NAMESPACE"), systemNamespace()),
		Name:      cmp.Or(os.Getenv("LEADER_ELECTION_NAME"), "karpenter-leader-election"),
	}
}
