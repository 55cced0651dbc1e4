// Command draw draws the dashboards as pictures, from a recording of a controller's metrics, and
// makes such recordings.
//
//	draw record -for 15m FILE INSTANCE=URL...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/daemok/daemok/deploy/monitoring/evaluate"
	"github.com/daemok/daemok/deploy/monitoring/recording"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "draw:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "record" {
		return record(ctx, args[1:])
	}
	if len(args) != 3 {
		return errors.New("name the folder of dashboards, the recording and the folder for pictures, or record")
	}
	return pictures(ctx, args[0], args[1], args[2])
}

// pictures draws each dashboard of a folder into a file of another.
func pictures(ctx context.Context, dashboards, from, to string) error {
	file, err := os.Open(filepath.Clean(from))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r, err := recording.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	all, err := evaluate.Dashboards(dashboards)
	if err != nil {
		return err
	}
	for _, d := range all {
		drawn, err := picture(ctx, d, r)
		if err != nil {
			return fmt.Errorf("dashboard %s: %w", d.File, err)
		}
		if err := os.WriteFile(filepath.Join(to, d.File+".svg"), drawn, 0o644); err != nil { // documents
			return err
		}
	}
	return nil
}
