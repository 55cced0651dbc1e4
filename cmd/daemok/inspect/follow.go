package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/compact"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/snapshot/policies"
	"github.com/daemok/daemok/kube/snapshot/strip"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/view"
)

const (
	viewEvery = 500 * time.Millisecond // a view of a large cluster takes a tenth of that
	askEvery  = 5 * time.Second        // whether the API server answers, and what nodes use
)

// live is a cluster that is watched.
type live struct {
	looker  *looker
	cache   cache.Cache
	current atomic.Pointer[view.Cluster]
	input   atomic.Pointer[view.Input] // of the current view
	changed chan struct{}
	dirty   chan struct{} // something other than the watches has changed
	silent  atomic.Pointer[string]
	whole   atomic.Bool // all has been listed that was there in the beginning
}

// stillReading is said while pods are listed: that takes seconds in large clusters.
const stillReading = "Pods are still being read: what they request, and which of them wait, is shown in a moment."

// Follow watches a live cluster until ctx ends, and returns once nodes, NodeClaims and pools have been listed. Until pods
// have been too, the view says so. What AWS has is learned meanwhile, where askAWS is true.
func Follow(ctx context.Context, at *Target, askAWS bool) (view.Source, error) {
	l, err := newLooker(ctx, at)
	if err != nil {
		return nil, err
	}
	config, err := at.Config()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.Wrap(l.clock.Transport)
	config.QPS, config.Burst = perSecond, atOnce
	own := map[string]cache.Config{at.SystemNamespace(): {}}
	watches, err := cache.New(config, cache.Options{
		Scheme: l.store.Scheme(), Mapper: l.store.RESTMapper(), DefaultTransform: strip.Sharing(), NewInformer: compact.NewInformer,
		ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Namespaces: own,
			Transform: cache.TransformStripManagedFields()}},
	})
	if err != nil {
		return nil, fmt.Errorf("watch the cluster: %w", err)
	}
	f := &live{looker: l, cache: watches, changed: make(chan struct{}, 1), dirty: make(chan struct{}, 1)}
	if err := f.follow(ctx); err != nil {
		return nil, err
	}
	go func() { _ = watches.Start(ctx) }() // it ends with ctx, and otherwise has no error
	if !l.state.WaitForFirst(ctx, &corev1.Node{}, &karpv1.NodeClaim{}, &karpv1.NodePool{}, &v1alpha5.Provisioner{}) {
		return nil, fmt.Errorf("list what the cluster has: %w", context.Cause(ctx))
	}
	f.askAgain(ctx)
	f.look(ctx)
	go f.wait(ctx)
	go f.run(ctx)
	go f.ask(ctx)
	if askAWS {
		go f.askAWS(ctx)
	}
	return f, nil
}

// View implements view.Source.
func (f *live) View() *view.Cluster { return f.current.Load() }

// Changed implements view.Source.
func (f *live) Changed() <-chan struct{} { return f.changed }

// Input implements view.Inputs.
func (f *live) Input() *view.Input { return f.input.Load() }

// Explain implements view.Explainer.
func (f *live) Explain(o record.Object) (view.Card, error) {
	in := f.input.Load()
	kept := &record.Record{}
	kept.Recall(slices.Clone(in.Statements))
	return view.Explain(*in, o, kept.About(o))
}

// follow has the state follow what may be watched.
func (f *live) follow(ctx context.Context) error {
	may := allowed{Cache: f.cache, store: f.looker.store, refused: map[schema.GroupVersionKind]string{}}
	listed := &wanted{objects: []client.Object{&corev1.ConfigMap{}}}
	if err := f.looker.state.Follow(ctx, listed, func(*karpv1.NodeClaim, bool) {}); err != nil {
		return err
	}
	late := f.late()
	for _, l := range late {
		listed.objects = append(listed.objects, l.objects...)
	}
	if err := may.ask(ctx, listed.objects); err != nil {
		return err
	}
	if err := f.looker.state.Follow(ctx, may, func(*karpv1.NodeClaim, bool) {}); err != nil {
		return err
	}
	for _, l := range late {
		switch err := l.follow(ctx, f.looker.store.Client, may); {
		case errors.Is(err, snapshot.ErrNotServed): // most clusters lack some of them
		case apierrors.IsForbidden(err):
			f.looker.troubles.add("%s", l.without)
		case err != nil:
			return err
		}
	}
	records, err := may.GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil {
		return err
	}
	if _, watched := records.(absent); !watched {
		f.looker.live = recorded{f.looker.store, f.cache}
		_, err = records.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { f.touch() }, UpdateFunc: func(any,
				any) {
				f.touch()
			}, DeleteFunc: func(any) { f.touch() },
		})
	}
	return err
}

// late is types of objects that clusters may lack, and their users may not be allowed to list.
type late struct {
	objects []client.Object
	follow  func(ctx context.Context, from client.Reader, informers cache.Informers) error
	without string // what is said to who may not list them
}

// late are those that have an effect, by the controller's settings.
func (f *live) late() (out []late) {
	state := f.looker.state
	if state.Overlays.Used() {
		out = append(out, late{
			[]client.Object{&v1alpha1.NodeOverlay{}}, state.Overlays.Follow,
			"You may not list nodeoverlays.karpenter.sh, so prices are shown without them: " +
				"grant the verbs list and watch on them.",
		})
	}
	if state.Devices.Planned() {
		out = append(out, late{
			snapshot.KindsOfDevices(), state.Devices.Follow,
			"You may not list all of resource.k8s.io, so devices are not shown: grant the verbs list and watch on its " +
				"deviceclasses, resourceslices, resourceclaims and resourceclaimtemplates.",
		})
	}
	if state.Quotas.Used() {
		out = append(out, late{
			[]client.Object{&v1beta1.CapacityQuota{}}, state.Quotas.Follow,
			"You may not list capacityquotas.autoscaling.x-k8s.io, so no quota is shown: " +
				"grant the verbs list and watch on them.",
		})
	}
	if state.Requests.Used() {
		out = append(out, late{
			[]client.Object{&autoscalingv1.ProvisioningRequest{}}, state.Requests.Follow,
			"You may not list provisioningrequests.autoscaling.x-k8s.io, so none is shown: " +
				"grant the verbs list and watch on them.",
		})
	}
	return out
}

// touch has a view made though no watch has shown anything.
func (f *live) touch() {
	select {
	case f.dirty <- struct{}{}:
	default:
	}
}

// look makes a view.
func (f *live) look(ctx context.Context) {
	whole := f.whole.Load() // before the snapshot, which may lack what is read meanwhile
	in := f.looker.input(ctx)
	f.input.Store(&in)
	c := view.Of(in)
	if s := f.silent.Load(); s != nil {
		c.Troubles = append(c.Troubles, *s)
	}
	if !whole {
		c.Troubles = append(c.Troubles, stillReading)
	}
	f.current.Store(&c)
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// wait waits until all has been listed.
func (f *live) wait(ctx context.Context) {
	if f.cache.WaitForCacheSync(ctx) && f.looker.state.WaitForFirst(ctx) {
		f.whole.Store(true)
		f.touch()
	}
}

// run makes a view after changes, and no more than viewEvery allows.
func (f *live) run(ctx context.Context) {
	pause := time.NewTicker(viewEvery)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.looker.state.Changed():
		case <-f.dirty:
		}
		f.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// ask sees whether the API server answers, since a watch that is cut off says nothing.
func (f *live) ask(ctx context.Context) {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		call, cancel := context.WithTimeout(ctx, askEvery)
		f.askAgain(call)
		cancel()
		f.touch()
	}
}

// askAWSEvery is how often prices and availability are read again, as often as spot prices change.
const askAWSEvery = 5 * time.Minute

func (f *live) askAWS(ctx context.Context) {
	ticker := time.NewTicker(askAWSEvery)
	defer ticker.Stop()
	for {
		f.looker.askAWS(ctx)
		f.touch()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// askAgain asks for what no watch shows, if the API server answers.
func (f *live) askAgain(ctx context.Context) {
	list, err := policies.Read(ctx, f.looker.store)
	if err != nil {
		if f.silent.Load() == nil {
			text := fmt.Sprintf("The API server has not answered since %s, and what is shown is of then: %v.",
				f.looker.now().UTC().Format("15:04:05 UTC"), err)
			f.silent.Store(&text)
		}
		if f.looker.asked.Load() == nil {
			f.looker.asked.Store(&asked{})
		}
		return
	}
	f.silent.Store(nil)
	f.looker.state.PoliciesAre(list)
	if kept, err := buffer.Read(ctx, f.looker.store, f.looker.now()); err == nil { // otherwise they are as they were
		f.looker.state.Buffers.Are(kept)
	}
	_ = f.looker.state.Commitments.Read(ctx, f.looker.store) // likewise
	f.looker.ask(ctx)
}

// recorded reads ConfigMaps from a cache that watches those of one namespace.
type recorded struct {
	client.Reader
	cache client.Reader
}

func (r recorded) Get(ctx context.Context, key client.ObjectKey, into client.Object,
	options ...client.GetOption) error {
	if _, is := into.(*corev1.ConfigMap); is {
		return r.cache.Get(ctx, key, into, options...)
	}
	return r.Reader.Get(ctx, key, into, options...)
}

func (r recorded) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if _, is := into.(*corev1.ConfigMapList); is {
		return r.cache.List(ctx, into, options...)
	}
	return r.Reader.List(ctx, into, options...)
}

// allowed watches what its user may list and watch: of the rest there is nothing, and it says so.
type allowed struct {
	cache.Cache
	store   forgiving
	refused map[schema.GroupVersionKind]string // what may not be watched, and why in a sentence
}

// GetInformer implements cache.Informers.
func (a allowed) GetInformer(ctx context.Context, o client.Object,
	options ...cache.InformerGetOption) (cache.Informer, error) {
	kind, err := apiutil.GVKForObject(o, a.store.Scheme())
	if err != nil {
		return nil, err
	}
	if why := a.refused[kind]; why != "" {
		a.store.troubles.add("%s", why)
		return absent{}, nil
	}
	return a.Cache.GetInformer(ctx, o, options...)
}

// verbs are those that a watch needs.
var verbs = [2]string{"list", "watch"}

// ask asks which of the objects may be watched, all at once: a distant API server takes long for each answer.
func (a allowed) ask(ctx context.Context, objects []client.Object) error {
	whys := make([][len(verbs)]string, len(objects))
	var reviews errgroup.Group
	for i, o := range objects {
		kind, err := apiutil.GVKForObject(o, a.store.Scheme())
		if err != nil {
			return err
		}
		mapping, err := a.store.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			a.refused[kind] = fmt.Sprintf(
				"The cluster has no %s: the CustomResourceDefinitions of Karpenter or Daemok are not installed.", kind.GroupKind())
			continue
		}
		for j, verb := range verbs {
			of := mapping.Resource.GroupResource()
			what := authorizationv1.ResourceAttributes{Verb: verb, Group: of.Group, Resource: of.Resource}
			if _, is := o.(*corev1.ConfigMap); is {
				what.Namespace = a.store.namespace
			}
			reviews.Go(func() error {
				may, err := a.may(ctx, what)
				if err != nil {
					return fmt.Errorf("ask whether %s may be read: %w", of, err)
				}
				if !may {
					whys[i][j] = fmt.Sprintf("You may not %s %s: grant the verb on them to see them.", verb, of)
				}
				return nil
			})
		}
	}
	if err := reviews.Wait(); err != nil {
		return err
	}
	for i, o := range objects {
		if why := cmp.Or(whys[i][:]...); why != "" {
			kind, err := apiutil.GVKForObject(o, a.store.Scheme())
			if err != nil {
				return err
			}
			a.refused[kind] = why
		}
	}
	return nil
}

func (a allowed) may(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
	err := a.store.Create(ctx, review)
	return review.Status.Allowed, err
}

// wanted lists what informers are asked for, and has none.
type wanted struct {
	cache.Informers
	objects []client.Object
}

// GetInformer implements cache.Informers.
func (w *wanted) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	w.objects = append(w.objects, o)
	return absent{}, nil
}

// absent is the informer of objects that are not watched: it has none, from the beginning.
type absent struct{ cache.Informer }

// AddEventHandler implements cache.Informer.
func (absent) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return nil, nil
}

var _ view.Source = (*live)(nil)
