package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	overlays "github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
)

// World is what manifests are added to.
type World struct {
	*snapshot.ClusterState
	Older      func(*v1alpha5.Provisioner) translate.PoolObject // reads pools of the older API generation
	Now        time.Time
	Saved      *cluster.Snapshot                            // what the cluster state recalls; nil for a live cluster
	Priorities func() ([]schedulingv1.PriorityClass, error) // of the cluster; nil where it cannot be asked
	Reader     client.Reader                                // of the cluster; nil for a saved snapshot
	Class      func(client.Object) error                    // takes in a class, a Provisioner too; nil where AWS cannot be asked for its instance types
}

// Outcome is what manifests came to.
type Outcome struct {
	Changes []string // a line for each object
	Notes   []string // what is known less well than a plan for the cluster would be
}

// Apply adds objects to the world, as it will be once they are applied and
// their controllers have done what they do: pods that differ from the template
// of their workload are gone, and those that are wanted beside the others wait.
func Apply(objects []Object, w World) (Outcome, error) {
	a := &applier{World: w, read: labelsRead(w.Saved), beside: map[string]int{}}
	for _, step := range []func(Object) error{a.rule, a.class, a.pool, a.hold, a.daemons, a.compare, a.stabilize} {
		for _, o := range objects {
			if err := step(o); err != nil {
				return Outcome{}, fmt.Errorf("%s: %w", o.At(), err)
			}
		}
	}
	if err := a.buffers(objects); err != nil {
		return Outcome{}, err
	}
	if err := a.requests(objects); err != nil {
		return Outcome{}, err
	}
	for i := range a.plans {
		if err := a.plans[i].carryOut(a); err != nil {
			return Outcome{}, fmt.Errorf("%s: %w", a.plans[i].At(), err)
		}
	}
	if err := a.pdbs(); err != nil {
		return Outcome{}, err
	}
	a.reportIdleOverlays(objects)
	a.reportBeside()
	a.recordLabels()
	slices.Sort(a.Notes)
	a.Notes = slices.Compact(a.Notes)
	return a.Outcome, nil
}

type applier struct {
	World
	Outcome
	priorities     []schedulingv1.PriorityClass
	prioritiesRead bool
	plans          []replacement
	read           readers
	budgets        []budget
	beside         map[string]int // by kind: objects that no plan depends on
}

// reportBeside names, kind by kind, what no plan depends on.
func (a *applier) reportBeside() {
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(a.beside)) {
		list = append(list, fmt.Sprintf("%d %s", a.beside[kind], kind))
	}
	if len(list) > 0 {
		a.Changes = append(a.Changes, "no plan depends on "+strings.Join(list, ", "))
	}
}

func (a *applier) change(o Object, format string, args ...any) {
	a.Changes = append(a.Changes, o.String()+": "+fmt.Sprintf(format, args...))
}

// rule takes in what decides how pods are read.
func (a *applier) rule(o Object) error {
	switch x := o.Object.(type) {
	case *corev1.Namespace:
		if x.Labels == nil {
			x.Labels = map[string]string{}
		}
		x.Labels[corev1.LabelMetadataName] = x.Name
		a.Seen(x)
	case *schedulingv1.PriorityClass:
		a.priorities = append(a.priorities, *x)
	case *storagev1.StorageClass:
		if x.CreationTimestamp.IsZero() {
			x.CreationTimestamp.Time = a.Now
		}
		a.Seen(x)
	case *corev1.LimitRange:
		defaultLimits(x)
		a.Seen(x)
	case *nodev1.RuntimeClass, *corev1.Service:
		a.Seen(x)
	case *corev1.PersistentVolume:
		return a.volume(o, x)
	case *corev1.PersistentVolumeClaim:
		return a.volumeClaim(o, x)
	case *overlays.NodeOverlay:
		return a.overlay(o, x)
	case *resourcev1.DeviceClass, *resourcev1.ResourceClaimTemplate, *resourcev1.ResourceClaim:
		if !a.Devices.Planned() {
			a.Notes = append(a.Notes, o.String()+" changes nothing: the controller leaves pods with ResourceClaims "+
				"alone (settings.ignoreDRARequests)")
			return nil
		}
		a.Seen(x)
	case *v1beta1.CapacityQuota:
		return addQuota(a, o, x)
	case *policyv1.PodDisruptionBudget:
		a.budgets = append(a.budgets, budget{x, o})
		return checkPDB(x)
	default:
		if _, no := aside(x); no && !isKnown(x) {
			a.beside[x.GetObjectKind().GroupVersionKind().Kind]++
		}
		return nil
	}
	a.change(o, "as the manifest says")
	return nil
}

func (a *applier) volume(o Object, v *corev1.PersistentVolume) error {
	if a.Has(v) {
		a.change(o, "is there, and stays as it is")
		return nil
	}
	if v.Status.Phase == "" {
		v.Status.Phase = corev1.VolumeAvailable
	}
	a.Seen(v)
	a.change(o, "new")
	return nil
}

func (a *applier) volumeClaim(o Object, c *corev1.PersistentVolumeClaim) error {
	if a.Has(c) {
		a.change(o, "is there, and stays as it is")
		return nil
	}
	if c.Status.Phase == "" {
		c.Status.Phase = corev1.ClaimPending
	}
	a.Seen(c)
	a.change(o, "new")
	return nil
}

// defaultLimits fills in what a limit range says by saying something else.
func defaultLimits(r *corev1.LimitRange) {
	for i := range r.Spec.Limits {
		item := &r.Spec.Limits[i]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		item.Default = filled(item.Default, item.Max)
		item.DefaultRequest = filled(filled(item.DefaultRequest, item.Default), item.Min)
	}
}

func filled(list, from corev1.ResourceList) corev1.ResourceList {
	out := list.DeepCopy()
	if out == nil {
		out = corev1.ResourceList{}
	}
	for name, amount := range from {
		if _, said := out[name]; !said {
			out[name] = amount
		}
	}
	return out
}

func (a *applier) class(o Object) error {
	switch o.Object.(type) {
	case *awsv1.EC2NodeClass, *awsv1alpha1.AWSNodeTemplate:
	default:
		return nil
	}
	if a.Class == nil {
		return errors.New("what a class offers is read from AWS, and a saved snapshot has only what its pools launch: leave it out, or plan on the live cluster")
	}
	if err := a.Class(o.Object); err != nil {
		return err
	}
	a.change(o, "as the manifest says")
	return nil
}

// judge refuses an object for what is wrong in it, and notes what is doubtful.
func (a *applier) judge(o Object, found []validate.Finding) error {
	if wrong := validate.Refusal(found); wrong != "" {
		return errors.New(wrong)
	}
	for _, f := range found {
		a.Notes = append(a.Notes, fmt.Sprintf("%s: %s", o, f))
	}
	return nil
}

func (a *applier) pool(o Object) error {
	var pool translate.PoolObject
	switch p := o.Object.(type) {
	case *karpv1.NodePool:
		if err := a.judge(o, validate.NodePool(p)); err != nil {
			return err
		}
		p.Status = karpv1.NodePoolStatus{}
		condition.SetTrue(p, karpv1.NodePoolValidationSucceeded, a.Now)
		pool = translate.FromNodePool(p)
	case *v1alpha5.Provisioner:
		if err := a.judge(o, validate.Provisioner(p)); err != nil {
			return err
		}
		if a.Class != nil {
			if err := a.Class(p); err != nil {
				return err
			}
		}
		p.Status = v1alpha5.ProvisionerStatus{}
		condition.SetTrue(p, karpv1.NodePoolValidationSucceeded, a.Now)
		pool = a.Older(p)
	default:
		return nil
	}
	if a.Saved != nil {
		ref := pool.Class
		if catalogue, whyNot := snapshot.OfferedIn(a.Saved, ref); catalogue == nil {
			return fmt.Errorf("%s: %s: %s", classField(pool), translate.ClassID(ref), whyNot)
		}
	}
	if a.hasPool(pool.ID) {
		a.change(o, "as the manifest says")
	} else {
		a.change(o, "new")
	}
	a.PoolSeen(pool)
	return nil
}

// classField is where a pool names its class.
func classField(p translate.PoolObject) string {
	if p.ID.Kind == translate.KindProvisioner {
		return "spec.providerRef"
	}
	return "spec.template.spec.nodeClassRef"
}

func (a *applier) hasPool(id cluster.PoolID) bool {
	_, there := a.Pool(id)
	if !there && a.Saved != nil {
		_, there = a.Saved.Pool(id)
	}
	return there
}

func (a *applier) daemons(o Object) error {
	ds, is := o.Object.(*appsv1.DaemonSet)
	if !is {
		return nil
	}
	if err := a.prioritise(&ds.Spec.Template.Spec); err != nil {
		return inTemplate(err)
	}
	a.Seen(ds)
	a.change(o, "counted on nodes that are launched")
	return nil
}
