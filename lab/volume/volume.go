// Package volume emulates the EBS CSI driver: it provisions volumes for claims, marks them attached to
// and detached from nodes after a delay, deletes released volumes, and reports to kubelets what a pod
// waits for.
//
// It promises what the scheduler and the attach-detach controller rely on: a volume is in one zone,
// the selected node's where the class waits for the first consumer; an attachment changes only on
// request; and a node gets no more of them than its CSINode says. It stores nothing: volumes exist
// only as API objects. Nodes announce the driver themselves (package machine).
package volume

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// DriverName is the name the driver goes by.
const DriverName = "ebs.csi.aws.com"

// Options are what a Driver is made of.
type Options struct {
	Client      kubernetes.Interface // as the driver's controller
	AttachAfter time.Duration        // from the preference to attached
	DetachAfter time.Duration        // from the preference to detached
	Log         *slog.Logger         // nil: none

	// Informers are what the driver reads from; nil: its own. Run starts them.
	Informers informers.SharedInformerFactory
}

// Driver is the controller side of the emulated driver.
type Driver struct {
	options Options
	factory informers.SharedInformerFactory
	queue   workqueue.TypedRateLimitingInterface[item]

	claims      corelisters.PersistentVolumeClaimLister
	volumes     corelisters.PersistentVolumeLister
	nodes       corelisters.NodeLister
	classes     storagelisters.StorageClassLister
	attachments storagelisters.VolumeAttachmentLister
	limits      storagelisters.CSINodeLister
}

// item is one object to handle.
type item struct{ kind, namespace, name string }

const (
	kindClaim      = "claim"
	kindVolume     = "volume"
	kindAttachment = "attachment"
)

// New returns a driver. It does nothing before Run.
func New(o Options) *Driver {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	factory := o.Informers
	if factory == nil {
		factory = informers.NewSharedInformerFactory(o.Client, 0)
	}
	core, storage := factory.Core().V1(), factory.Storage().V1()
	return &Driver{
		options: o,
		factory: factory,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[item](100*time.Millisecond, 10*time.Second)),
		claims:      core.PersistentVolumeClaims().Lister(),
		volumes:     core.PersistentVolumes().Lister(),
		nodes:       core.Nodes().Lister(),
		classes:     storage.StorageClasses().Lister(),
		attachments: storage.VolumeAttachments().Lister(),
		limits:      storage.CSINodes().Lister(),
	}
}

// Run announces the driver and works until ctx ends.
func (d *Driver) Run(ctx context.Context) error {
	core, storage := d.factory.Core().V1(), d.factory.Storage().V1()
	for kind, informer := range map[string]cache.SharedIndexInformer{
		kindClaim:      core.PersistentVolumeClaims().Informer(),
		kindVolume:     core.PersistentVolumes().Informer(),
		kindAttachment: storage.VolumeAttachments().Informer(),
	} {
		if _, err := informer.AddEventHandler(d.enqueue(kind)); err != nil {
			return fmt.Errorf("watch %ss: %w", kind, err)
		}
	}
	d.factory.Start(ctx.Done())
	d.factory.WaitForCacheSync(ctx.Done())
	d.queue.Add(item{}) // the driver's own object
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { d.work(ctx) })
	}
	<-ctx.Done()
	d.queue.ShutDown()
	wg.Wait()
	d.factory.Shutdown()
	return nil
}

func (d *Driver) enqueue(kind string) cache.ResourceEventHandler {
	add := func(obj any) {
		if o, ok := obj.(metav1.Object); ok {
			d.queue.Add(item{kind, o.GetNamespace(), o.GetName()})
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}
}

func (d *Driver) work(ctx context.Context) {
	for {
		it, stop := d.queue.Get()
		if stop {
			return
		}
		again, err := d.sync(ctx, it)
		switch {
		case err != nil && ctx.Err() == nil:
			d.options.Log.Warn("volume driver tries again", "kind", it.kind, "name", it.name, "error", err)
			d.queue.AddRateLimited(it)
		case again > 0:
			d.queue.AddAfter(it, again)
			d.queue.Forget(it)
		default:
			d.queue.Forget(it)
		}
		d.queue.Done(it)
	}
}

// sync takes one step for one object and says when to check again.
func (d *Driver) sync(ctx context.Context, it item) (again time.Duration, err error) {
	switch it.kind {
	case kindClaim:
		return d.syncClaim(ctx, it)
	case kindVolume:
		return d.syncVolume(ctx, it)
	case kindAttachment:
		return d.syncAttachment(ctx, it)
	}
	return 0, d.announce(ctx)
}

// announce makes the object that says how the driver works.
func (d *Driver) announce(ctx context.Context) error {
	attach, policy := true, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy
	_, err := d.options.Client.StorageV1().CSIDrivers().Create(ctx, &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: DriverName},
		Spec:       storagev1.CSIDriverSpec{AttachRequired: &attach, FSGroupPolicy: &policy},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("announce driver %s: %w", DriverName, err)
	}
	return nil
}

// ours reports whether a volume belongs to this driver.
func ours(v *corev1.PersistentVolume) bool {
	return v.Spec.CSI != nil && v.Spec.CSI.Driver == DriverName
}
