package store

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Step is one loop's examine the object of that name.
type Step func(ctx context.Context, name string) (time.Duration, error)

// Trigger names the objects to examine when one of a kind changed.
type Trigger struct {
	Kind  client.Object
	Names func(o client.Object) []string
}

// Itself names the changed object.
func Itself(o client.Object) []string { return []string{o.GetName()} }

// Driver runs a step for every object that a trigger names: one check of an object at a time, again
// after the time the step asks for, after an error with growing pauses from 100 ms to a minute, and
// after a conflict from 50 ms to 5 s.
type Driver struct {
	Step    Step
	Workers int // 4 if 0
	Failed  func(name string, err error)

	queue     workqueue.TypedRateLimitingInterface[string]
	conflicts workqueue.TypedRateLimiter[string]
}

// Watch prepares the driver; call it before the cache follows anything.
func (d *Driver) Watch(ctx context.Context, from *Cache, triggers ...Trigger) error {
	d.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Minute))
	d.conflicts = workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 5*time.Second)
	for _, t := range triggers {
		informer, err := from.GetInformer(ctx, t.Kind)
		if err != nil {
			return err
		}
		add := func(o any) {
			for _, name := range t.Names(o.(client.Object)) {
				d.queue.Add(name)
			}
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: add, UpdateFunc: func(old, o any) { add(old); add(o) }, DeleteFunc: add,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Run takes steps until ctx ends.
func (d *Driver) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range max(d.Workers, 4) {
		workers.Go(func() {
			for d.one(ctx) {
			}
		})
	}
	<-ctx.Done()
	d.queue.ShutDown()
	workers.Wait()
}

func (d *Driver) one(ctx context.Context) bool {
	name, over := d.queue.Get()
	if over {
		return false
	}
	defer d.queue.Done(name)
	if ctx.Err() != nil {
		return true // only to empty the queue
	}
	after, err := d.Step(ctx, name)
	switch {
	case apierrors.IsConflict(err):
		d.queue.AddAfter(name, d.conflicts.When(name))
		return true
	case err != nil:
		if d.Failed != nil && ctx.Err() == nil {
			d.Failed(name, err)
		}
		d.queue.AddRateLimited(name)
	default:
		d.queue.Forget(name)
		if after > 0 {
			d.queue.AddAfter(name, after)
		}
	}
	d.conflicts.Forget(name)
	return true
}
