package controller

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/controller/shadow"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/pause"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/foreign"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/snapshot/policies"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe/comparison"
)

// nodeSelector selects nodes by their labels.
type nodeSelector interface {
	Matches(labels.Labels) bool
}

// Shadowing is what the mode that only watches stands on beside Parts.
type Shadowing struct {
	Book   *comparison.Book
	Groups nodeSelector           // nodes without NodeClaims that count as of pools; nil: none
	Given  []translate.PoolObject // pools that exist in files alone
}

// dueEvery is how often it is checked whether a node would be gone by now.
const dueEvery = 5 * time.Second

// policiesEvery is how often DisruptionPolicies are read.
const policiesEvery = time.Minute

// NewShadow puts a program together that makes plans as New's would, and carries them out in memory alone. Of the
// parts it uses what reads: Store and Instances may be nil. It begins to follow the watches, which must not be
// started before; kinds that the cluster lacks have no objects.
func NewShadow(ctx context.Context, p Parts, with Shadowing) (*Program, error) {
	live := shadow.Live{Reader: foreign.HideFrom(p.Live)}
	p.Policy.IgnoreRequests = true // the other autoscaler serves them
	clusterState := snapshot.New(p.Classes.Kinds, p.Now)
	clusterState.Configure(func(s *snapshot.Settings) {
		*s = snapshot.Settings{Generations: Served(p.Pools), Pools: p.PoolDefaults, Spreads: p.Spreads,
			Doubt: p.doubt(), NoOverlays: p.NoOverlays, AwaitBuffers: !p.Policy.IgnoreBuffers,
			PlanDevices: p.Devices, AwaitDevices: p.Devices, NoQuotas: p.NoQuotas,
			CommitmentsIn: p.commitmentsIn(), Account: p.account()}
	})
	followed := p.overlays(foreign.HideFrom(p.Live), clusterState)
	if !p.NoOverlays {
		if err := followed.start(ctx); err != nil {
			return nil, err
		}
	}
	limited := p.quotas(foreign.HideFrom(p.Live), clusterState)
	if !p.NoQuotas {
		if err := limited.start(ctx); err != nil {
			return nil, err
		}
	}
	watched := shadow.Watched{Informers: p.Watches}
	if err := clusterState.Follow(ctx, watched, func(*karpv1.NodeClaim, bool) {}); err != nil {
		return nil, err
	}
	recommended := p.recommendations(foreign.HideFrom(p.Live), clusterState)
	if err := recommended.start(ctx); err != nil {
		return nil, err
	}
	claimed := p.devices(foreign.HideFrom(p.Live), clusterState)
	if p.Devices {
		if err := claimed.start(ctx); err != nil {
			return nil, err
		}
	}
	for _, o := range with.Given {
		o.PoolDefaults = p.PoolDefaults
		clusterState.PoolSeen(o)
	}
	world := &shadow.World{Pools: clusterState, Book: with.Book}
	if with.Groups != nil {
		world.Groups = &shadow.Groups{Nodes: with.Groups}
	}
	planned := make(chan struct{})
	loop := &planner.Planner{
		Source: clusterState, Ledger: world, Applier: world, Now: p.Now,
		Listener: planner.All{shadow.Listener{World: world}, &firstPlan{planned: planned, log: p.Log}},
		Policy:   p.Policy, Effort: p.Effort, Window: p.Window, Planning: p.Metrics.Planning,
	}
	plans := func(ctx context.Context) error {
		if !p.Filled(ctx) || !clusterState.WaitForFirst(ctx) || !catchUp(ctx, p.Log, clusterState, live) {
			return nil
		}
		p.Began()
		return loop.Run(ctx)
	}
	due := func(ctx context.Context) error {
		for pause.For(ctx, dueEvery) == nil {
			if world.Due(p.Now()) {
				clusterState.Touch()
			}
		}
		return nil
	}
	program := &Program{ClusterState: clusterState, Planned: planned, Tasks: []func(context.Context) error{plans, due}}
	program.Rounds = []Round{{What: "read DisruptionPolicies", Do: func(ctx context.Context) (time.Duration, error) {
		list, err := policies.Read(ctx, live)
		if err == nil {
			clusterState.PoliciesAre(list)
		}
		return policiesEvery, err
	}}, {What: "follow VerticalPodAutoscalers", Do: recommended.round}}
	if !p.NoOverlays {
		program.Rounds = append(program.Rounds, Round{What: "follow NodeOverlays", Do: followed.round})
	}
	if p.Devices {
		program.Rounds = append(program.Rounds, Round{What: "follow devices and ResourceClaims", Do: claimed.round})
	}
	if !p.NoQuotas {
		program.Rounds = append(program.Rounds, Round{What: "follow CapacityQuotas", Do: limited.round})
	}
	if !p.NoCommitments {
		program.Rounds = append(program.Rounds, readCommitments(clusterState, optional{live}))
	}
	p.Live = live
	program.keep(p.buffers(clusterState, nil))
	return program, nil
}

// optional finds no ConfigMap where it may read none: shadow mode does without the right.
type optional struct{ client.Reader }

// Get implements client.Reader.
func (o optional) Get(
	ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption,
) error {
	err := o.Reader.Get(ctx, key, into, options...)
	if apierrors.IsForbidden(err) {
		return apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
	}
	return err
}

// firstPlan closes a channel once the first plan is made.
type firstPlan struct {
	shadow.Listener
	planned chan<- struct{}
	log     *slog.Logger
	once    sync.Once
}

// Planned notes that there is a plan.
func (f *firstPlan) Planned(s *cluster.Snapshot, _ plan.Plan, took time.Duration) {
	f.once.Do(func() {
		f.log.Info("made the first plan", "nodes", len(s.Nodes), "waiting", len(s.Waiting), "tookSeconds",
			took.Seconds())
		close(f.planned)
	})
}
