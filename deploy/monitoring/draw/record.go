package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/daemok/daemok/deploy/monitoring/evaluate"
	"github.com/daemok/daemok/deploy/monitoring/recording"
)

// record scrapes targets for some time, or until it is interrupted, and writes what they served.
func record(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	every := flags.Duration("every", 15*time.Second, "interval between two scrapes")
	lasting := flags.Duration("for", 15*time.Minute, "how long to record")
	dashboards := flags.String("dashboards", "dashboards", "folder of the dashboards whose metrics are recorded")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() < 2 {
		return errors.New("name the file to write, and targets as INSTANCE=URL")
	}
	all, err := evaluate.Dashboards(*dashboards)
	if err != nil {
		return err
	}
	metrics, err := evaluate.Metrics(all)
	if err != nil {
		return err
	}
	var targets []recording.Target
	for _, arg := range flags.Args()[1:] {
		instance, url, _ := strings.Cut(arg, "=")
		targets = append(targets, recording.Target{Instance: instance, URL: url})
	}
	r := scraped(ctx, targets, *every, int(*lasting / *every))
	out, err := os.Create(flags.Arg(0))
	if err != nil {
		return err
	}
	return errors.Join(r.Write(out, func(metric string) bool { return metrics[metric] }), out.Close())
}

// scraped is what targets serve in so many rounds, or until a context ends. That one does not answer
// is reported, and no error.
func scraped(ctx context.Context, targets []recording.Target, every time.Duration, rounds int) *recording.Recording {
	r := &recording.Recording{From: time.Now().UTC().Truncate(time.Second), Every: every}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for range rounds {
		if err := r.Round(context.WithoutCancel(ctx), targets); err != nil {
			fmt.Fprintln(os.Stderr, "draw:", err)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return r
		}
	}
	return r
}
