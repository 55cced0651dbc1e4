package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/access"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/definitions"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
	"github.com/daemok/daemok/observe/comparison"
)

// shadowing is how the mode that only watches is set up.
type shadowing struct {
	on        bool
	manifests string
	nodes     string
	file      string

	selector nodeSelector // nil: no nodes
}

// nodeSelector selects nodes by their labels.
type nodeSelector interface {
	Matches(labels.Labels) bool
}

// groupNodes are the nodes of EKS managed node groups and of eksctl's own groups.
var groupNodes = []string{"eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name"}

func (s *shadowing) check() error {
	if !s.on {
		for _, given := range []struct{ flag, value string }{{"shadow-manifests", s.manifests}, {"shadow-nodes", s.nodes}, {"shadow-file", s.file}} {
			if given.value != "" {
				return fmt.Errorf("--%s (%s) is %q without --shadow: it has an effect in shadow mode alone", given.flag, envName(given.flag), given.value)
			}
		}
		return nil
	}
	if s.nodes != "" {
		selector, err := labels.Parse(s.nodes)
		if err != nil {
			return fmt.Errorf("--shadow-nodes (SHADOW_NODES) is %q: want a label selector such as eks.amazonaws.com/nodegroup=web: %w", s.nodes, err)
		}
		s.selector = selector
	} else if s.manifests != "" {
		s.selector = anyOf(groupNodes)
	}
	return nil
}

// anyOf selects what has one of the labels at least.
type anyOf []string

// Matches implements nodeSelector.
func (keys anyOf) Matches(l labels.Labels) bool { return slices.ContainsFunc(keys, l.Has) }

// buildShadow puts shadow mode together. Nothing that it holds can write: connections to Kubernetes refuse to, but
// for the one that keeps the history, and so do those to AWS.
func buildShadow(ctx context.Context, o options, log *slog.Logger) (ctrl.Manager, error) {
	config, err := access.Config("")
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	keeping := rest.CopyConfig(config)
	clock := &apiclock.Clock{}
	config.Wrap(fence.ReadOnly)
	config.Wrap(clock.Transport)
	config.QPS, config.Burst = float32(o.kubeQPS), o.kubeBurst
	if _, err := versionOf(config)(ctx); err != nil {
		return nil, fmt.Errorf("the API server at %s cannot be used, check KUBECONFIG and the way to it: %w", config.Host, err)
	}
	info := version.Get()
	reported := observe.NewMetrics(metrics.Registry, info.Version, info.Commit, info.Go, runtime.GOARCH)
	provider, err := newProvider(ctx, o, config, reported, log)
	if err != nil {
		return nil, err
	}
	book := &comparison.Book{}
	m, err := newManager(o, config, nil, map[string]http.Handler{comparison.Path: comparison.Handler(book)}, &alias.Gatherer{From: metrics.Registry, Rules: alias.WorkQueues()})
	if err != nil {
		return nil, err
	}
	if o.shadow.manifests == "" {
		if err := definitions.Served(m.GetRESTMapper()); err != nil {
			return nil, fmt.Errorf("shadow mode has no NodePools to plan with: give --shadow-manifests, which `daemok migrate --from cluster-autoscaler` writes: %w", err)
		}
	}
	kind := class.NodeClasses(authority(o, config), validate.ClassOptions{Expressions: o.expressions})
	classes := &controller.GivenClasses{
		NodeClasses: controller.NodeClasses{Store: m.GetClient(), Catalog: provider, Served: []class.Kind{kind}}, Kind: kind, Cloud: provider,
	}
	given, err := o.shadow.given(ctx, classes)
	if err != nil {
		return nil, err
	}
	p := parts{
		options: o, clock: clock, log: log, manager: m, metrics: reported, provider: provider, hasPrices: provider.HasOnDemand(),
	}
	if o.readsCommitments() {
		p.asked.commitments = provider
	}
	reported.LeadsBy(p.leads)
	policy := o.policy()
	policy.IgnoreReplicas = true // nodes of static pools are the same whoever scales the others
	program, err := controller.NewShadow(ctx, controller.Parts{
		Live: m.GetAPIReader(), Watches: m.GetCache(), Classes: classes, Pools: []nodepool.Generation{controller.NodePools()},
		Metrics: reported, Log: log, Now: clock.Now, Clock: clock,
		Planning: controller.Planning{
			Policy: policy, Window: planner.Window{Idle: o.batchIdle, Max: o.batchMax}, Spreads: o.defaultSpreads,
			Filled: m.GetCache().WaitForCacheSync, Began: reported.Synced, NoOverlays: !o.overlays,
			NoQuotas: !o.quotas, NoCommitments: !o.commitments, Devices: !o.ignoreDRA,
		},
		Cloud: controller.Cloud{Commitments: p.asked.commitments}, Self: controller.Self{Namespace: ownNamespace()},
		PoolDefaults: translate.PoolDefaults{InstanceCost: o.instanceCost, Room: o.room, ClusterAutoscaler: mark.ClusterAutoscaler(o.autoscaler)},
	}, controller.Shadowing{Book: book, Groups: o.shadow.selector, Given: given})
	if err != nil {
		return nil, err
	}
	p.clusterState = program.ClusterState
	saver, err := o.saver(book, keeping, log, clock.Now)
	if err != nil {
		return nil, err
	}
	if err := saver.Begin(ctx); err != nil {
		return nil, fmt.Errorf("take up the history of shadow mode: %w", err)
	}
	if err := metrics.Registry.Register(comparison.Collector{Book: book}); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	log.Info("shadow mode: plans are made and recorded, and nothing is changed", "manifests", o.shadow.manifests, "nodes", o.shadow.nodes, "pools", len(given))
	return m, p.runShadow(program, saver)
}

// runShadow hands the program to the manager.
func (p *parts) runShadow(program *controller.Program, saver *comparison.Saver) error {
	fill := func(ctx context.Context) error { return p.fill(ctx, program.Planned) }
	runs := append(program.Tasks, saver.Run, p.refresh, fill)
	for _, r := range program.Rounds {
		runs = append(runs, func(ctx context.Context) error { return r.Run(ctx, p.log) })
	}
	var errs []error
	for _, run := range runs {
		errs = append(errs, p.manager.Add(always(run)))
	}
	return errors.Join(errs...)
}

// saver keeps the history where the options say.
func (o options) saver(book *comparison.Book, config *rest.Config, log *slog.Logger, now func() time.Time) (*comparison.Saver, error) {
	out := &comparison.Saver{Book: book, Cluster: o.clusterName, Log: log, Now: now}
	if o.shadow.file != "" {
		out.In = comparison.File(o.shadow.file)
		return out, nil
	}
	own := types.NamespacedName{Namespace: ownNamespace(), Name: api.ConfigMapShadow}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the address of the API server, %s: %w", config.Host, err)
	}
	config.Wrap(fence.OneConfigMap(own, server.Path))
	config.ContentType = "application/json" // by which the transport knows what is created
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("connect to the API server to keep the history: %w", err)
	}
	out.In = comparison.ConfigMap{Client: c, Namespace: own.Namespace}
	return out, nil
}

// given reads the pools of the manifests, and looks up what their classes select.
func (s *shadowing) given(ctx context.Context, classes *controller.GivenClasses) (out []translate.PoolObject, err error) {
	if s.manifests == "" {
		return nil, nil
	}
	sources, err := sourcesIn(s.manifests)
	if err != nil {
		return nil, fmt.Errorf("--shadow-manifests (SHADOW_MANIFESTS): %w", err)
	}
	objects, _, err := manifest.Read(sources, "default")
	if err != nil {
		return nil, fmt.Errorf("--shadow-manifests (SHADOW_MANIFESTS): %w", err)
	}
	for _, o := range objects {
		switch x := o.Object.(type) {
		case *awsv1.EC2NodeClass:
			err = classes.Add(ctx, x)
		case *karpv1.NodePool:
			if wrong := validate.Refusal(validate.NodePool(x)); wrong != "" {
				err = errors.New(wrong)
				break
			}
			condition.SetTrue(x, karpv1.NodePoolValidationSucceeded, time.Now())
			out = append(out, translate.FromNodePool(x))
		}
		if err != nil {
			return nil, fmt.Errorf("--shadow-manifests (SHADOW_MANIFESTS): %s: %w", o.At(), err)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--shadow-manifests (SHADOW_MANIFESTS) is %q: there is no NodePool in it", s.manifests)
	}
	return out, nil
}

// sourcesIn reads a file, or the YAML and JSON files of a folder. Entries that begin with ".." are left out: in the
// folder of a ConfigMap they are what its files link to, which would be read twice.
func sourcesIn(path string) (out []manifest.Source, err error) {
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		hidden := name != path && strings.HasPrefix(d.Name(), "..")
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || d.IsDir():
			return nil
		}
		if ext := filepath.Ext(name); name != path && ext != ".yaml" && ext != ".yml" && ext != ".json" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err == nil {
			out = append(out, manifest.Source{Name: name, Data: data})
		}
		return err
	})
	return out, err
}
