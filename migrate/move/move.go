// Package move moves nodes from the pools of one API version to those of another, in steps that can be
// resumed.
//
// It promises that no node is replaced and no pod is moved: instances keep running while the
// controller lets claims of other pools take them over, and older objects are deleted last, when
// nothing belongs to them. It writes to a ConfigMap what it will do before it does it, and each step
// checks whether it is already done, so that a move can be stopped at any moment and started again. It
// asks AWS nothing.
package move

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/migrate/live"
)

// checkEvery is how often it is checked whether the controller has done its part.
const checkEvery = 2 * time.Second

// Mover moves one cluster. The controller has to run meanwhile.
type Mover struct {
	Store     client.Client
	Namespace string // of the controller, for what is written of the move
	Pause     func(context.Context, time.Duration) error
	Report    func(line string) // is called with how far it is
}

// Plan is what a move begins with: the older objects as the cluster has them, and those
// that take their place, classes before pools.
type Plan struct{ Older, Newer []client.Object }

// Begun reports whether a move has been begun and is not rolled back, and whether it is
// done.
func (m *Mover) Begun(ctx context.Context) (begun, done bool, err error) {
	r, err := m.read(ctx)
	return r != nil, r != nil && r.Step == stepDone && !r.Back, err
}

// Apply moves the cluster as planned, or goes on with the move that was begun, whose plan
// holds. kept are the Provisioners that stay since pods select their nodes; once these
// say otherwise, applying again finishes the move.
func (m *Mover) Apply(ctx context.Context, p Plan) (kept []string, err error) {
	r, err := m.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Step == stepDone:
		return nil, fmt.Errorf("ConfigMap %s/%s says that the move is done: delete it to begin another, after which this one cannot be rolled back", m.Namespace, api.ConfigMapMigration)
	case r.Back:
		return nil, fmt.Errorf("ConfigMap %s/%s says that a rollback has begun: finish it by --rollback", m.Namespace, api.ConfigMapMigration)
	}
	toPools := way{from: provisioner.Generation(), to: translate.NodePools(), names: r.pools(translate.KindNodePool)}
	return kept, inOrder(
		func() error { return m.freeze(ctx, r) },
		func() error { return m.make(ctx, r, "creates NodePools and EC2NodeClasses", r.newer) },
		func() error { return m.ready(ctx, toPools) },
		func() error { return m.carry(ctx, r, toPools) },
		func() error { kept, err = m.removeOlder(ctx, r); return err },
		func() error { return m.carry(ctx, r, toPools) }, // what was launched until then
		func() error { return m.thaw(ctx, r) },
		func() error { return m.note(ctx, r, finished(kept)) },
	)
}

// finished is the last step of a move.
func finished(kept []string) string {
	if len(kept) > 0 {
		return "waits for pods that select nodes of Provisioners: " + strings.Join(kept, ", ")
	}
	return stepDone
}

// Rollback undoes a move that was begun, done or not: the older objects come back, with the
// instances that belong to the newer ones now, and these go.
func (m *Mover) Rollback(ctx context.Context) error {
	r, err := m.read(ctx)
	if err != nil {
		return err
	}
	if r == nil {
		return fmt.Errorf("there is no ConfigMap %s/%s: no move was begun, or it was rolled back", m.Namespace, api.ConfigMapMigration)
	}
	switch served, err := provisioner.Served(m.Store.RESTMapper()); {
	case err != nil:
		return err
	case !served:
		return errors.New("nothing was changed: the cluster has no Provisioners and AWSNodeTemplates any more: install their definitions, and repeat")
	}
	back := way{from: translate.NodePools(), to: provisioner.Generation(), names: r.pools(translate.KindProvisioner)}
	return inOrder(
		func() error { r.Back = true; return m.note(ctx, r, "rolls back") },
		func() error { return m.freeze(ctx, r) },
		func() error { return m.make(ctx, r, "creates Provisioners and AWSNodeTemplates", r.older) },
		func() error { return m.ready(ctx, back) },
		func() error { return m.carry(ctx, r, back) },
		func() error { return m.removeNewer(ctx, r) },
		func() error { return m.carry(ctx, r, back) },
		func() error { return m.thaw(ctx, r) },
		func() error { return m.forget(ctx) },
	)
}

// inOrder takes steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// frozen is the reason of a freeze that a move made.
const frozen = "daemok migrate moves the nodes to other pools"

// freeze keeps nodes from going by choice, unless a user did already.
func (m *Mover) freeze(ctx context.Context, r *record) error {
	err := m.Store.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: api.ConfigMapFreeze}, Data: map[string]string{api.FreezeReason: frozen}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create ConfigMap %s/%s, so that no node goes meanwhile: %w", m.Namespace, api.ConfigMapFreeze, err)
	}
	return m.note(ctx, r, "has frozen the cluster")
}

// thaw ends the freeze, where it is that of a move.
func (m *Mover) thaw(ctx context.Context, r *record) error {
	c := &corev1.ConfigMap{}
	err := m.Store.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: api.ConfigMapFreeze}, c)
	if err == nil && c.Data[api.FreezeReason] == frozen {
		err = m.Store.Delete(ctx, c, client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion})
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ConfigMap %s/%s, so that nodes may go again: %w", m.Namespace, api.ConfigMapFreeze, err)
	}
	return nil
}

// make creates objects that are not there. Those that are must be of this move.
func (m *Mover) make(ctx context.Context, r *record, step string, objects []client.Object) error {
	if err := m.note(ctx, r, step); err != nil {
		return err
	}
	for _, o := range objects {
		if err := m.makeOne(ctx, o); err != nil {
			return fmt.Errorf("create %s: %w", called(o), err)
		}
	}
	return nil
}

// makeOne creates an object once none of its name is being deleted.
func (m *Mover) makeOne(ctx context.Context, o client.Object) error {
	for reported := false; ; reported = true {
		err := m.Store.Create(ctx, o.DeepCopyObject().(client.Object))
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		there := o.DeepCopyObject().(client.Object)
		err = m.Store.Get(ctx, client.ObjectKeyFromObject(o), there)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return err
		case there.GetDeletionTimestamp() != nil && !reported:
			m.Report(called(o) + " of before is being deleted, which is waited for")
		case there.GetDeletionTimestamp() != nil:
		case o.GetAnnotations()[api.AnnotationMigratedFrom] != there.GetAnnotations()[api.AnnotationMigratedFrom]:
			return &takenError{called(o)}
		default:
			return nil
		}
		if err := m.Pause(ctx, checkEvery); err != nil {
			return err
		}
	}
}

// ready waits until the pools of a way may have nodes. At the first check the controller may not
// have examined them yet: nothing is reported of that.
func (m *Mover) ready(ctx context.Context, w way) error {
	reported := ""
	for first := true; ; first = false {
		waits := ""
		for _, name := range w.names {
			o := w.to.New()
			if err := m.Store.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
				return fmt.Errorf("read %s %s, which was created for its nodes: %w", w.to.Kind, name, err)
			}
			if is := condition.Get(o, "Ready"); is == nil {
				waits += fmt.Sprintf("%s %s is not ready: no controller has reconciled it; see that Daemok's runs\n", w.to.Kind, name)
			} else if is.Status != metav1.ConditionTrue {
				waits += fmt.Sprintf("%s %s is not ready: %s\n", w.to.Kind, name, cause(o, is))
			}
		}
		if waits == "" {
			return nil
		}
		if waits != reported && !first {
			reported = waits
			m.Report(strings.TrimSuffix(waits, "\n"))
		}
		if err := m.Pause(ctx, checkEvery); err != nil {
			return err
		}
	}
}

// removeOlder deletes Provisioners that pods do not select, and templates that no
// Provisioner names any more.
func (m *Mover) removeOlder(ctx context.Context, r *record) (kept []string, err error) {
	if err := m.note(ctx, r, "deletes Provisioners and AWSNodeTemplates"); err != nil {
		return nil, err
	}
	selected, all, err := m.selected(ctx)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, o := range r.older { // Provisioners come before templates
		name := o.GetName()
		switch p := asProvisioner(o); {
		case p != nil && (all || slices.Contains(selected, name)):
			kept = append(kept, name)
			template, _ := p.Spec.Template()
			used[template] = true
			continue
		case p == nil && used[name]:
			continue
		}
		if err := m.remove(ctx, o); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// selected are the Provisioners whose nodes workloads select.
func (m *Mover) selected(ctx context.Context) (names []string, all bool, err error) {
	documents, err := live.Read(ctx, m.Store, m.Namespace)
	if err != nil {
		return nil, false, err
	}
	for _, d := range documents {
		some, any := d.Selecting()
		names, all = append(names, some...), all || any
	}
	return names, all, nil
}

// remove deletes an object of the v1alpha5 API, unless it was changed since the move began.
func (m *Mover) remove(ctx context.Context, o client.Object) error {
	return m.erase(ctx, o, func(there client.Object) (bool, error) {
		if !equality.Semantic.DeepEqual(specOf(there), specOf(o)) {
			return false, fmt.Errorf("%s was changed since the move began, and its replacement was not: change it back, or roll back by --rollback and begin again", called(o))
		}
		return true, nil
	})
}

// removeNewer deletes what the move made, pools before classes.
func (m *Mover) removeNewer(ctx context.Context, r *record) error {
	ours := func(there client.Object) (bool, error) {
		return there.GetAnnotations()[api.AnnotationMigratedFrom] != "", nil
	}
	for _, o := range slices.Backward(r.newer) {
		if err := m.erase(ctx, o, ours); err != nil {
			return err
		}
	}
	return nil
}

// erase deletes an object that is there and may go, as it was seen; claims of it that come
// meanwhile stay. One that was written to in that moment, as the controller does with its status,
// is examined again.
func (m *Mover) erase(ctx context.Context, o client.Object, may func(there client.Object) (bool, error)) error {
	for {
		there := reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object) // empty: reading leaves what is not there as it is
		err := m.Store.Get(ctx, client.ObjectKeyFromObject(o), there)
		if apierrors.IsNotFound(err) || err == nil && there.GetDeletionTimestamp() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s before it is deleted: %w", called(o), err)
		}
		if yes, err := may(there); !yes || err != nil {
			return err
		}
		uid, version := there.GetUID(), there.GetResourceVersion()
		err = m.Store.Delete(ctx, there, client.Preconditions{UID: &uid, ResourceVersion: &version}, client.PropagationPolicy(metav1.DeletePropagationOrphan))
		switch {
		case apierrors.IsConflict(err):
			if err := m.Pause(ctx, checkEvery); err != nil {
				return err
			}
		case client.IgnoreNotFound(err) != nil:
			return fmt.Errorf("delete %s: %w", called(o), err)
		default:
			m.Report("deleted " + called(o))
			return nil
		}
	}
}
