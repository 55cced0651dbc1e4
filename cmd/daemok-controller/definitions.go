package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/kube/api/crds"
	"github.com/daemok/daemok/kube/definitions"
)

// How soon definitions are compared again: those that differ are likely to be changed soon, since the log asks for it.
const (
	definitionsEvery = time.Hour
	definitionsSoon  = 10 * time.Minute
)

// forDefinitions waits until the API server serves the kinds without which nothing works.
func (w waiter) forDefinitions(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Timeout = askFor
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("connect to the API server: %w", err)
	}
	kinds, err := apiutil.NewDynamicRESTMapper(config, http)
	if err != nil {
		return fmt.Errorf("read what the API server serves: %w", err)
	}
	passes := func(err error) bool {
		_, missing := errors.AsType[*definitions.MissingError](err)
		return missing || unanswered(err)
	}
	return w.until(ctx, "the start waits for CustomResourceDefinitions", func(context.Context) error { return definitions.Served(kinds) }, passes)
}

// comparer compares the cluster's definitions with those of this build, and says what differs when that changes.
type comparer struct {
	from    client.Reader
	log     *slog.Logger
	lacking *prometheus.GaugeVec // definition
	said    string
}

// Round compares once. Where the rights are missing that is said, and all goes on.
func (c *comparer) Round(ctx context.Context) (time.Duration, error) {
	ours, err := crds.All()
	if err != nil {
		return definitionsEvery, err
	}
	found, err := definitions.Read(ctx, c.from, ours)
	if err != nil {
		return definitionsEvery, fmt.Errorf("compare definitions with those of this build, `daemok doctor` does so too: %w", err)
	}
	differ := slices.DeleteFunc(slices.Clone(found), func(d definitions.Difference) bool { return d.Missing || d.Same() })
	for _, d := range found {
		if !d.Missing {
			c.lacking.WithLabelValues(d.Name).Set(float64(len(d.Unknown)))
		}
	}
	if now := fmt.Sprint(differ); now != c.said {
		c.said = now
		for _, d := range differ {
			c.say(d)
		}
	}
	if len(differ) > 0 {
		return definitionsSoon, nil
	}
	return definitionsEvery, nil
}

func (c *comparer) say(d definitions.Difference) {
	if d.OfLaterRelease() {
		c.log.Info("the definition has fields that this release does not use, and serves this release too", "definition", d.Name, "fields", definitions.Fields(d.Later))
		return
	}
	if d.Going {
		c.log.Error("the definition is being deleted, and with it all objects of its kind", "definition", d.Name, "do", "see docs/tasks/adopt.md, Definitions that were deleted")
		return
	}
	line := c.log.With("definition", d.Name, "do", d.WayOut())
	switch {
	case len(d.Unserved) > 0:
		line.Warn("the definition is of another release and does not serve what this one reads", "versions", strings.Join(d.Unserved, ", "))
	case len(d.Unknown) > 0:
		line.Warn("the definition is of another release: the API server drops fields of this one, which goes on without them", "fields", definitions.Fields(d.Unknown))
	default:
		line.Warn("the definition is of another release: what it accepts may differ from what this one expects", "versions", strings.Join(append(d.Other, d.Strange...), ", "))
	}
}

// compareDefinitions is the round over definitions.
func (p *parts) compareDefinitions() controller.Round {
	c := &comparer{from: p.manager.GetAPIReader(), log: p.log, lacking: p.metrics.DefinitionFields}
	return controller.Round{What: "compare CustomResourceDefinitions", Do: c.Round}
}
