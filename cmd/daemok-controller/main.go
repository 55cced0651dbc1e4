// Command daemok-controller is the controller program: flags and wiring, nothing else. It launches
// instances for pending pods and terminates instances that are not needed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/settings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv)
	switch {
	case errors.Is(err, pflag.ErrHelp):
	case errors.Is(err, errVersion):
		fmt.Println("daemok-controller", version.Get())
	case err != nil:
		stop()
		os.Exit(1)
	}
}

// report writes the error that ends the process as a line like all others.
func report(to io.Writer, encoding string, err error) {
	newLogger(to, "error", encoding).Error("the controller ends", "error", err.Error())
}

// run reads the options and serves until ctx ends. An error is reported.
func run(ctx context.Context, args []string, env func(string) string) error {
	first, err := readOptions(args, env) // some may be missing that the cluster's settings have
	if errors.Is(err, pflag.ErrHelp) || errors.Is(err, errVersion) {
		return err
	}
	waiter{newLogger(os.Stdout, first.logLevel, first.logEncoding), first.healthPort}.forServer(ctx)
	var given settings.Settings
	var unread error
	if !first.shadow.on { // those are of the controller beside it
		given, unread = readGlobal(ctx)
	}
	o, err := readOptions(args, behindEnv(env, given))
	var lines, last io.Writer = os.Stdout, os.Stderr
	if err == nil {
		lines, last, err = o.openLogs()
	}
	if err == nil {
		o.given = given
		o.allowed = func(s settings.Settings) error { _, err := readOptions(args, behindEnv(env, s)); return err }
		err = serve(ctx, o, newLogger(lines, o.logLevel, o.logEncoding), unread)
	}
	if err != nil {
		report(last, o.logEncoding, err)
	}
	return err
}

// leaseLost is what the manager ends with where the lease could not be renewed.
const leaseLost = "leader election lost"

// ended says what it means that the lease was lost.
func ended(err error) error {
	if err.Error() != leaseLost {
		return err
	}
	return fmt.Errorf("%w: the API server took no renewal for %v, so another controller may lead; nothing was written since the fence closed, %v after the last renewal; "+
		"this process restarts, as a standby, and goes on with what is under way should it lead again", err, fence.RenewFor, fence.LeaseFor-fence.CallFor)
}

// serve builds the program and runs it; unread is why the global settings were not read.
func serve(ctx context.Context, o options, log *slog.Logger, unread error) error {
	if o.memoryLimit > 0 {
		debug.SetMemoryLimit(o.memoryLimit / 10 * 9)
	}
	others := logr.FromSlogHandler(calm{log.Handler(), ctx})
	ctrl.SetLogger(others)
	klog.SetLogger(others) // client-go's own lines
	log.Info("starting", "version", version.Get().String(), "cluster", o.clusterName)
	for _, gate := range o.ignored {
		log.Warn("a feature gate changes nothing", "gate", gate)
	}
	for _, flag := range o.older {
		log.Warn("this option is of an older release and changes nothing", "flag", flag, "variable", envName(flag), "instead", olderOptions[flag])
	}
	if unread != nil {
		log.Warn("global settings were not read", "error", unread.Error())
	}
	ctx, o.stop = context.WithCancelCause(ctx)
	tracer, endTraces, err := o.traces(ctx, os.Getenv, log)
	if err != nil {
		return err
	}
	p, err := build(ctx, o, tracer, log)
	if err != nil {
		return err
	}
	err = p.Start(ctx)
	endTraces()
	if err != nil && ctx.Err() == nil {
		return ended(err)
	}
	if errors.Is(context.Cause(ctx), errRestart) {
		return restartFor()
	}
	log.Info("stopped")
	return nil
}
