package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/migrate/convert"
	"github.com/daemok/daemok/migrate/live"
	"github.com/daemok/daemok/migrate/move"
)

// mover moves the cluster, and reports to the user how far it is.
func (m *migration) mover(cluster reached, out io.Writer) *move.Mover {
	return &move.Mover{
		Store: cluster, Namespace: m.at.SystemNamespace(), Pause: pause.For,
		Report: func(line string) { fmt.Fprintln(out, line) },
	}
}

// apply moves the cluster to what was made of its older objects, or goes on with a move.
func (m *migration) apply(ctx context.Context, cluster reached, r *convert.Result, out io.Writer) error {
	plan := move.Plan{Newer: r.New()}
	begun, done, err := m.mover(cluster, out).Begun(ctx)
	if err != nil {
		return err
	}
	if plan.Older, err = live.Older(ctx, cluster); err != nil {
		return err
	}
	switch {
	case done && len(plan.Older) == 0:
		_, err := fmt.Fprintln(out, "the move is done")
		return err
	case begun:
	case r.Refused() > 0:
		return fmt.Errorf("%s, see the report: mend that first, nothing was changed", brief.Counted(r.Refused(), "error"))
	case len(plan.Older) == 0:
		_, err := fmt.Fprintln(out, "there is no Provisioner and no AWSNodeTemplate to move from")
		return err
	}
	kept, err := m.mover(cluster, out).Apply(ctx, plan)
	return interrupted(err, "repeat the command, or go back by --rollback", func() error {
		if len(kept) > 0 {
			_, err := fmt.Fprintf(out, "pods still select nodes of Provisioner %s: it stays and launches nodes until the pods select by karpenter.sh/nodepool; then repeat --apply\n", strings.Join(kept, ", "))
			return err
		}
		return nil
	})
}

// rollback undoes a move.
func (m *migration) rollback(ctx context.Context, cluster reached, out io.Writer) error {
	return interrupted(m.mover(cluster, out).Rollback(ctx), "repeat the command", func() error { return nil })
}

// interrupted says of a move that was ended from outside how it goes on.
func interrupted(err error, wayOut string, done func() error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("the migration has stopped, and no node is disrupted voluntarily until it goes on: " + wayOut)
	}
	if err != nil {
		return err
	}
	return done()
}
