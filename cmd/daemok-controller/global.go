package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/access"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/settings"
	"github.com/daemok/daemok/observe"
)

// globalEvery is how soon a change of the global settings is seen.
const globalEvery = 10 * time.Second

// readGlobal reads ConfigMaps karpenter-global-settings and config-logging. There is none where it cannot be
// read: what is wrong with the cluster is reported by the code that needs it.
func readGlobal(ctx context.Context) (settings.Settings, error) {
	config, err := access.Config("")
	if err != nil {
		return settings.Settings{}, err
	}
	store, err := client.New(config, client.Options{})
	if err != nil {
		return settings.Settings{}, err
	}
	return globalOf(ctx, store)
}

func globalOf(ctx context.Context, from client.Reader) (settings.Settings, error) {
	data := func(name string) (map[string]string, error) {
		c := &corev1.ConfigMap{}
		if err := from.Get(ctx, client.ObjectKey{Namespace: ownNamespace(), Name: name}, c); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read ConfigMap %s/%s: %w", ownNamespace(), name, err)
		}
		return c.Data, nil
	}
	all, err := data(api.ConfigMapSettings)
	if err != nil {
		return settings.Settings{}, err
	}
	logging, err := data(api.ConfigMapLogging)
	if err != nil {
		return settings.Settings{}, err
	}
	return settings.Read(all).And(settings.ReadLogging(logging)), nil
}

// behindEnv is the environment, and behind it what the ConfigMap has of the same name.
func behindEnv(env func(string) string, s settings.Settings) func(string) string {
	return func(name string) string {
		if value := env(name); value != "" {
			return value
		}
		return s.Variables[name]
	}
}

// driftGate says whether nodes of Provisioners drift: as a flag or variable says, else as
// the settings do at the moment.
type driftGate struct {
	said, is bool
	settings *atomic.Bool
}

func (g driftGate) on() bool {
	if g.said {
		return g.is
	}
	return g.settings.Load()
}

// global follows ConfigMap karpenter-global-settings.
type global struct {
	live    client.Reader
	account *class.Account
	drift   *atomic.Bool // whether nodes of Provisioners drift
	events  interface{ Publish(observe.Event) }
	log     *slog.Logger
	allowed func(settings.Settings) error // whether the controller would start with them
	restart func()                        // has the controller restart gracefully

	began    map[string]string // variables that the controller started with
	refused  map[string]string // that it would not start with, as was reported
	reported string            // what was wrong or doubtful, as was reported
}

// Round checks once. What can takes effect at once, the rest by a new start; what the controller
// would not start with changes nothing.
func (g *global) Round(ctx context.Context) (time.Duration, error) {
	now, err := globalOf(ctx, g.live)
	if err != nil {
		return globalEvery, err
	}
	g.take(now)
	return globalEvery, nil
}

func (g *global) take(now settings.Settings) {
	if text := said(now.Findings); text != g.reported {
		g.reported = text
		for _, f := range now.Findings {
			g.report(f.Warning, f.String())
		}
	}
	g.account.Set(class.Usual{InstanceProfile: now.Live.InstanceProfile, Tags: now.Live.Tags, ManyPods: now.Live.ManyPods, NoPodInterfaces: now.Live.NoPodInterfaces})
	g.drift.Store(now.Live.Drift)
	if maps.Equal(now.Variables, g.began) || maps.Equal(now.Variables, g.refused) {
		return
	}
	if err := g.allowed(now); err != nil {
		g.refused = now.Variables
		g.report(false, err.Error()+"; the settings of before hold")
		return
	}
	g.log.Info("global settings have changed: restarting with them")
	g.restart()
}

func said(found []validate.Finding) string {
	var words []string
	for _, f := range found {
		words = append(words, f.String())
	}
	return strings.Join(words, "\n")
}

func (g *global) report(used bool, text string) {
	about := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ownNamespace(), Name: api.ConfigMapSettings}}
	g.log.Warn("global settings are not as they should be", "text", text)
	reason := "SettingsInvalid"
	if used {
		reason = "SettingsWarning"
	}
	g.events.Publish(observe.Event{About: about, Key: "ConfigMap/" + api.ConfigMapSettings, Warning: true, Reason: reason, Message: text, Topic: text, DedupeFor: time.Hour})
}

// restartFor replaces this process by another with the same arguments.
func restartFor() error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("restart the program: %w", err)
	}
	return fmt.Errorf("restart the program: %w", syscall.Exec(program, os.Args, os.Environ()))
}

// errRestart ends the program to start it again.
var errRestart = errors.New("what the controller began with has changed")

// followGlobal is the round over ConfigMap karpenter-global-settings.
func (p *parts) followGlobal() controller.Round {
	g := &global{
		live: p.manager.GetAPIReader(), account: p.account, drift: p.drifts.settings, events: p.events, log: p.log, began: p.options.given.Variables,
		allowed: p.options.allowed, restart: func() { p.options.stop(errRestart) },
	}
	return controller.Round{What: "follow the global settings", Do: g.Round}
}
