package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/translate"
)

// stepDone is the step of a move that is complete.
const stepDone = "done"

// Keys of the ConfigMap.
const (
	keyStep  = "step"
	keyOlder = "older"
	keyNewer = "newer"
	keyBack  = "rollback"
)

// recordMax is how many bytes of objects a record may have: an API server takes a MiB of a
// ConfigMap, and the steps are in it too.
const recordMax = 1<<20 - 16<<10

// record is what is written of a move.
type record struct {
	Back         bool
	Step         string
	older, newer []client.Object // as they are made
}

// pools are the names of the record's pools of a kind.
func (r *record) pools(kind string) (names []string) {
	for _, o := range slices.Concat(r.older, r.newer) {
		if o.GetObjectKind().GroupVersionKind().Kind == kind {
			names = append(names, o.GetName())
		}
	}
	return names
}

// begin returns what is written of the move that was begun, or else writes the plan.
func (m *Mover) begin(ctx context.Context, p Plan) (*record, error) {
	r, err := m.read(ctx)
	if err != nil || r != nil {
		return r, err
	}
	r, data, err := m.prepare(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("nothing was changed: %w", err)
	}
	err = m.Store.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: api.ConfigMapMigration},
		Data:       data,
	})
	if apierrors.IsAlreadyExists(err) {
		return m.read(ctx) // the answer to an earlier try was lost
	}
	if err != nil {
		return nil, fmt.Errorf("write ConfigMap %s/%s, by which the move can be resumed: %w", m.Namespace, api.ConfigMapMigration, err)
	}
	return r, nil
}

// Check says why a move as planned could not begin; nil where it could, or was begun
// already. It changes nothing.
func (m *Mover) Check(ctx context.Context, p Plan) error {
	r, err := m.read(ctx)
	if err != nil || r != nil {
		return err
	}
	_, _, err = m.prepare(ctx, p)
	return err
}

// prepare makes the record of a move that can begin, and what the ConfigMap says of it.
func (m *Mover) prepare(ctx context.Context, p Plan) (*record, map[string]string, error) {
	if err := attended(p); err != nil {
		return nil, nil, err
	}
	r := &record{Step: "begins"}
	for _, o := range p.Older {
		r.older = append(r.older, bare(o))
	}
	for _, o := range p.Newer {
		r.newer = append(r.newer, marked(bare(o)))
		if err := m.free(ctx, r.newer[len(r.newer)-1]); err != nil {
			return nil, nil, err
		}
	}
	older, err := write(r.older)
	if err != nil {
		return nil, nil, err
	}
	newer, err := write(r.newer)
	if err != nil {
		return nil, nil, err
	}
	if size := len(older) + len(newer); size > recordMax {
		return nil, nil, fmt.Errorf("the objects to move come to %d bytes, and the ConfigMap by which a move can be resumed holds %d: convert them by files, as daemok migrate prints them", size, recordMax)
	}
	return r, map[string]string{keyStep: r.Step, keyOlder: older, keyNewer: newer}, nil
}

// free refuses an object whose name another object has that is not of the same move.
// One that is being deleted is waited for later.
func (m *Mover) free(ctx context.Context, o client.Object) error {
	there := reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
	err := m.Store.Get(ctx, client.ObjectKeyFromObject(o), there)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("look whether there is a %s already: %w", called(o), err)
	case there.GetDeletionTimestamp() == nil && o.GetAnnotations()[api.AnnotationMigratedFrom] != there.GetAnnotations()[api.AnnotationMigratedFrom]:
		return &takenError{called(o)}
	}
	return nil
}

// takenError says that a name is taken.
type takenError struct{ object string }

func (e *takenError) Error() string {
	return fmt.Sprintf("%s is there already and is not of this move, as it has no annotation %s for it: rename or delete it, and repeat", e.object, api.AnnotationMigratedFrom)
}

// attended refuses to begin where no controller serves the Provisioners that are to be moved,
// or one of them cannot have nodes: what takes its place could not either.
func attended(p Plan) error {
	var wrong []string
	for _, o := range p.Older {
		provisioner := asProvisioner(o)
		if provisioner == nil {
			continue
		}
		switch is := condition.Get(provisioner, "Ready"); {
		case is == nil:
			wrong = append(wrong, fmt.Sprintf("Provisioner %s: no controller has reconciled it, as it has no condition Ready: see that Daemok's runs, in this release or a later one", o.GetName()))
		case is.Status != metav1.ConditionTrue:
			wrong = append(wrong, fmt.Sprintf("Provisioner %s is not ready: %s: mend it, or delete it", o.GetName(), cause(provisioner, is)))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "\n"))
}

// cause is what a pool that is not ready says of it: Ready itself names other conditions alone.
func cause(pool condition.Object, ready *metav1.Condition) string {
	for _, c := range pool.GetConditions() {
		if c.Type != ready.Type && c.Status == metav1.ConditionFalse && c.Message != "" {
			return c.Message
		}
	}
	return ready.Message
}

// marked says on an object that it was made of older ones.
func marked(o client.Object) client.Object {
	all := o.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[api.AnnotationMigratedFrom] = v1alpha5.GroupVersion.String()
	o.SetAnnotations(all)
	return o
}

// bare is an object as it can be made again. It keeps its kind.
func bare(o client.Object) client.Object {
	out := o.DeepCopyObject().(client.Object)
	kind := out.GetObjectKind().GroupVersionKind()
	name, labels, annotations := out.GetName(), out.GetLabels(), out.GetAnnotations()
	switch x := out.(type) {
	case *v1alpha5.Provisioner:
		x.ObjectMeta, x.Status = metav1.ObjectMeta{}, v1alpha5.ProvisionerStatus{}
		kind = v1alpha5.GroupVersion.WithKind(translate.KindProvisioner)
	case *awsv1alpha1.AWSNodeTemplate:
		x.ObjectMeta, x.Status = metav1.ObjectMeta{}, awsv1alpha1.AWSNodeTemplateStatus{}
		kind = awsv1alpha1.GroupVersion.WithKind(awsv1alpha1.Kind)
	}
	out.SetName(name)
	out.SetLabels(labels)
	out.SetAnnotations(annotations)
	out.GetObjectKind().SetGroupVersionKind(kind)
	return out
}

// read returns what is written of a move; nil where none was begun.
func (m *Mover) read(ctx context.Context) (*record, error) {
	c := &corev1.ConfigMap{}
	err := m.Store.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: api.ConfigMapMigration}, c)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", m.Namespace, api.ConfigMapMigration, err)
	}
	r := &record{Back: c.Data[keyBack] == "true", Step: c.Data[keyStep]}
	if r.older, err = m.parse(c.Data[keyOlder]); err == nil {
		r.newer, err = m.parse(c.Data[keyNewer])
	}
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s, which a move is resumed by, cannot be read: %w", m.Namespace, api.ConfigMapMigration, err)
	}
	return r, nil
}

// note writes how far the move is.
func (m *Mover) note(ctx context.Context, r *record, step string) error {
	c := &corev1.ConfigMap{}
	if err := m.Store.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: api.ConfigMapMigration}, c); err != nil {
		return fmt.Errorf("read ConfigMap %s/%s: %w", m.Namespace, api.ConfigMapMigration, err)
	}
	r.Step = step
	if before := c.DeepCopy(); c.Data[keyStep] != step || (c.Data[keyBack] == "true") != r.Back {
		c.Data[keyStep] = step
		if r.Back {
			c.Data[keyBack] = "true"
		}
		if err := m.Store.Patch(ctx, c, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("write ConfigMap %s/%s: %w", m.Namespace, api.ConfigMapMigration, err)
		}
	}
	if step == stepDone {
		step = "is " + step
	}
	m.Report("the move " + step)
	return nil
}

// forget ends a move that was rolled back.
func (m *Mover) forget(ctx context.Context) error {
	err := m.Store.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: api.ConfigMapMigration}})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ConfigMap %s/%s: %w", m.Namespace, api.ConfigMapMigration, err)
	}
	m.Report("the move is rolled back")
	return nil
}

func write(objects []client.Object) (string, error) {
	data, err := json.Marshal(objects)
	if err != nil {
		return "", fmt.Errorf("write objects down: %w", err)
	}
	return string(data), nil
}

func (m *Mover) parse(text string) ([]client.Object, error) {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return nil, err
	}
	var out []client.Object
	for _, item := range items {
		var head metav1.TypeMeta
		if err := json.Unmarshal(item, &head); err != nil {
			return nil, err
		}
		o, err := m.Store.Scheme().New(schema.FromAPIVersionAndKind(head.APIVersion, head.Kind))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(item, o); err != nil {
			return nil, err
		}
		out = append(out, o.(client.Object))
	}
	return out, nil
}

// called is an object's kind and name.
func called(o client.Object) string {
	return o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetName()
}

func asProvisioner(o client.Object) *v1alpha5.Provisioner {
	p, _ := o.(*v1alpha5.Provisioner)
	return p
}

// specOf is what the user wrote of an object of the v1alpha5 API.
func specOf(o client.Object) any {
	switch x := o.(type) {
	case *v1alpha5.Provisioner:
		return x.Spec
	case *awsv1alpha1.AWSNodeTemplate:
		return x.Spec
	}
	return nil
}
