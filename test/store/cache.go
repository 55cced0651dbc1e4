package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/internal/pause"
)

// relistAfter is how long a watcher waits before it lists again.
const relistAfter = time.Second

// Cache is what one process has seen of the server through watches: a reader
// that lags behind, and informers. Each kind is followed by itself, so kinds
// overtake each other as they do in life.
type Cache struct {
	cache.Informers // no more of it than GetInformer is supported

	// Again reports whether watches report an object, as it has become, twice; nil is never. It is
	// set before Follow.
	Again func(client.Object) bool

	server    *Server
	lag       func(client.Object) time.Duration
	transform func(any) (any, error)

	mu      sync.Mutex
	kinds   map[schema.GroupVersionKind]*followed
	follows context.Context //nolint:containedctx // of Follow: kinds that are asked for later are followed as long
	loops   sync.WaitGroup
}

type followed struct {
	cache.Informer // no more of it than AddEventHandler is supported

	mu       sync.Mutex
	begun    bool
	objects  map[types.NamespacedName]client.Object
	handlers []toolscache.ResourceEventHandler
}

// NewCache makes a cache whose watches deliver each event of an object lag later,
// and not before the event before it; nil is at once. transform is applied to
// every object, as an informer's; nil is none.
func (s *Server) NewCache(lag func(client.Object) time.Duration, transform func(any) (any, error)) *Cache {
	if lag == nil {
		lag = func(client.Object) time.Duration { return 0 }
	}
	if transform == nil {
		transform = func(o any) (any, error) { return o, nil }
	}
	return &Cache{server: s, lag: lag, transform: transform, kinds: map[schema.GroupVersionKind]*followed{}}
}

// GetInformer implements cache.Informers. A kind that is asked for after Follow is followed from then on.
func (c *Cache) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	kind, err := c.server.kindOf(o)
	if err != nil {
		return nil, err
	}
	f := c.of(kind)
	c.mu.Lock()
	ctx := c.follows
	c.mu.Unlock()
	if ctx != nil {
		c.begin(ctx, kind, f)
	}
	return f, nil
}

// begin follows a kind, unless it is followed already.
func (c *Cache) begin(ctx context.Context, kind schema.GroupVersionKind, f *followed) {
	f.mu.Lock()
	begun := f.begun
	f.begun = true
	f.mu.Unlock()
	if begun {
		return
	}
	have, w := c.server.watch(kind)
	c.replace(f, have, true)
	c.loops.Go(func() { c.follow(ctx, kind, f, w) })
}

func (c *Cache) of(kind schema.GroupVersionKind) *followed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds[kind] == nil {
		c.kinds[kind] = &followed{objects: map[types.NamespacedName]client.Object{}}
	}
	return c.kinds[kind]
}

// AddEventHandler implements cache.Informer. A handler that is added late sees what is there at once.
func (f *followed) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	f.mu.Lock()
	f.handlers = append(slices.Clip(f.handlers), h)
	have := slices.SortedFunc(maps.Values(f.objects), byKey)
	f.mu.Unlock()
	for _, o := range have {
		h.OnAdd(o, true)
	}
	return nil, nil
}

// Follow lists the kinds that were asked for and those of the given objects,
// and follows them until ctx ends.
func (c *Cache) Follow(ctx context.Context, kinds ...client.Object) error {
	for _, o := range kinds {
		if _, err := c.GetInformer(ctx, o); err != nil {
			return err
		}
	}
	for kind, f := range c.kinds {
		c.begin(ctx, kind, f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follows = ctx
	return nil
}

// Wait returns when every watch has ended.
func (c *Cache) Wait() { c.loops.Wait() }

func (c *Cache) follow(ctx context.Context, kind schema.GroupVersionKind, f *followed, w *stream) {
	for {
		e, ok := w.next(ctx)
		if ok && pause.For(ctx, e.at.Add(c.lag(e.object)).Sub(c.server.now())) == nil {
			f.take(e.what, c.made(e.object), false)
			if e.what != deleted && c.Again != nil && c.Again(e.object) { // informers report no deletion twice
				f.take(modified, c.made(e.object), false)
			}
			continue
		}
		c.server.unwatch(w)
		if ctx.Err() != nil || pause.For(ctx, relistAfter) != nil {
			return
		}
		var have []client.Object
		have, w = c.server.watch(kind)
		c.replace(f, have, false)
	}
}

func (c *Cache) made(o client.Object) client.Object {
	if out, err := c.transform(o.DeepCopyObject()); err == nil {
		return out.(client.Object)
	}
	return o
}

// replace makes the cache equal to a list and notifies the handlers of the differences.
func (c *Cache) replace(f *followed, have []client.Object, first bool) {
	there := map[types.NamespacedName]bool{}
	for _, o := range have {
		there[client.ObjectKeyFromObject(o)] = true
		f.take(added, c.made(o), first)
	}
	for _, o := range f.all() {
		if !there[client.ObjectKeyFromObject(o)] {
			f.take(deleted, o, false)
		}
	}
}

func (f *followed) take(what change, o client.Object, first bool) {
	key := client.ObjectKeyFromObject(o)
	f.mu.Lock()
	before, known := f.objects[key]
	if what == deleted {
		delete(f.objects, key)
	} else {
		f.objects[key] = o
	}
	handlers := f.handlers
	f.mu.Unlock()
	for _, h := range handlers {
		switch {
		case what == deleted:
			h.OnDelete(o)
		case known && before.GetUID() == o.GetUID():
			h.OnUpdate(before, o)
		default:
			h.OnAdd(o, first)
		}
	}
}

func (f *followed) all() []client.Object {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.SortedFunc(maps.Values(f.objects), byKey)
}

func byKey(a, b client.Object) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// Client returns a client that reads from the cache and writes through a
// connection, as that of a manager does.
func (c *Cache) Client(through *Connection) client.Client { return cached{through, c} }

type cached struct {
	*Connection
	cache *Cache
}

func (c cached) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	kind, err := c.server.kindOf(o)
	if err != nil {
		return err
	}
	f := c.cache.of(kind)
	f.mu.Lock()
	have, known := f.objects[key]
	f.mu.Unlock()
	if !known {
		return apierrors.NewNotFound(resourceOf(kind), key.Name)
	}
	copyInto(o, have)
	return nil
}

func (c cached) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	kind, err := c.server.kindOf(list)
	if err != nil {
		return err
	}
	kind.Kind = kind.Kind[:len(kind.Kind)-len("List")]
	return fill(list, c.cache.of(kind).all(), options)
}
