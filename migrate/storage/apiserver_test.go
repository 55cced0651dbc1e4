package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/admit"
)

// apiserver keeps objects in the versions they were stored in, and shows and takes them as
// definitions say: another version is converted by its webhook, which is gone, or by its
// name alone; what the version does not have is cut off, and rules hold between what an
// object was and is. A changed definition is gone by after some requests only.
type apiserver struct {
	client.Client
	definitions map[string]*apiextensionsv1.CustomResourceDefinition
	before      map[string]*apiextensionsv1.CustomResourceDefinition // what is still gone by
	lag, behind int                                                  // requests for which it is
	objects     map[schema.GroupKind]map[string]map[string]any
	leases      []coordinationv1.Lease
	judges      []admissionregistrationv1.ValidatingWebhookConfiguration
	nodes       []corev1.Node
	now         time.Time
	revision    int

	writes int  // until it is killed; below 0: never
	lost   bool // what it is killed at has no effect
	killed bool
}

var errKilled = errors.New("killed")

// write counts a request that changes something, and does it or not.
func (a *apiserver) write(do func() error) error {
	if a.killed {
		return errKilled
	}
	if a.writes--; a.writes != -1 {
		return do()
	}
	a.killed = true
	if !a.lost {
		_ = do()
	}
	return errKilled
}

// gates are compiled once for each definition.
var gates = struct {
	sync.Mutex
	of     map[string]*admit.Gate
	lately map[*apiextensionsv1.CustomResourceDefinition]*admit.Gate
}{of: map[string]*admit.Gate{}, lately: map[*apiextensionsv1.CustomResourceDefinition]*admit.Gate{}}

// gateOf holds objects to a definition, which is not changed any more.
func gateOf(d *apiextensionsv1.CustomResourceDefinition) *admit.Gate {
	gates.Lock()
	defer gates.Unlock()
	if gates.lately[d] != nil {
		return gates.lately[d]
	}
	text, err := json.Marshal(d.Spec)
	if err != nil {
		panic(err)
	}
	if gates.of[string(text)] == nil {
		if gates.of[string(text)], err = admit.New([]*apiextensionsv1.CustomResourceDefinition{d}); err != nil {
			panic(err)
		}
	}
	gates.lately[d] = gates.of[string(text)]
	return gates.of[string(text)]
}

// held is the definition that a request for a kind is answered by.
func (a *apiserver) held(of schema.GroupVersionKind) (*apiextensionsv1.CustomResourceDefinition, error) {
	if a.killed {
		return nil, errKilled
	}
	for name, d := range a.definitions {
		if d.Spec.Group != of.Group || d.Spec.Names.Kind != of.Kind {
			continue
		}
		if a.behind > 0 && a.before[name] != nil {
			a.behind--
			d = a.before[name]
		}
		for _, v := range d.Spec.Versions {
			if v.Name == of.Version && v.Served {
				return d, nil
			}
		}
	}
	return nil, &meta.NoKindMatchError{GroupKind: of.GroupKind(), SearchedVersions: []string{of.Version}}
}

// shown is a stored object in a version.
func shown(d *apiextensionsv1.CustomResourceDefinition, stored map[string]any, of schema.GroupVersionKind) (map[string]any, error) {
	o := runtime.DeepCopyJSON(stored)
	version := of.GroupVersion().String()
	if o["apiVersion"] != version && d.Spec.Conversion != nil && d.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter {
		return nil, apierrors.NewInternalError(fmt.Errorf("conversion webhook for %s, %s: no endpoints available", of.Kind, stored["apiVersion"]))
	}
	return cut(d, o, version), nil
}

// cut is an object as it is in another version but for what that does not have. It may be
// changed.
func cut(d *apiextensionsv1.CustomResourceDefinition, o map[string]any, version string) map[string]any {
	// What an object is decoded from is cut to its own version, then to the one asked for.
	for _, v := range []any{o["apiVersion"], version} {
		o["apiVersion"] = v
		if filled, _ := gateOf(d).Create(o); filled != nil {
			o = filled
		}
	}
	return o
}

func (a *apiserver) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch o := into.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		if a.killed {
			return errKilled
		}
		d, there := a.definitions[key.Name]
		if !there {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "customresourcedefinitions"}, key.Name)
		}
		d.DeepCopyInto(o)
	case *corev1.Namespace:
		o.Name, o.UID = key.Name, "cluster-1"
	default:
		panic(fmt.Sprintf("nobody gets a %T", into))
	}
	return nil
}

func (a *apiserver) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	if a.killed {
		return errKilled
	}
	switch l := into.(type) {
	case *coordinationv1.LeaseList:
		l.Items = a.leases
	case *admissionregistrationv1.ValidatingWebhookConfigurationList:
		l.Items = a.judges
	case *admissionregistrationv1.MutatingWebhookConfigurationList:
	case *corev1.NodeList:
		for _, n := range a.nodes {
			l.Items = append(l.Items, *n.DeepCopy())
		}
	case *unstructured.UnstructuredList:
		of := l.GroupVersionKind()
		of.Kind = of.Kind[:len(of.Kind)-len("List")]
		d, err := a.held(of)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(a.objects[of.GroupKind()])) {
			o, err := shown(d, a.objects[of.GroupKind()][name], of)
			if err != nil {
				return err
			}
			l.Items = append(l.Items, unstructured.Unstructured{Object: o})
		}
	default:
		panic(fmt.Sprintf("nobody lists a %T", into))
	}
	return nil
}

func (a *apiserver) Create(_ context.Context, o client.Object, options ...client.CreateOption) error {
	u := o.(*unstructured.Unstructured)
	d, err := a.held(u.GroupVersionKind())
	if err != nil {
		return err
	}
	var asked client.CreateOptions
	asked.ApplyOptions(options)
	filled, err := gateOf(d).Create(u.Object)
	if err != nil {
		return err
	}
	u.Object = filled
	if len(asked.DryRun) > 0 {
		return nil
	}
	if a.objects[u.GroupVersionKind().GroupKind()][u.GetName()] != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{}, u.GetName())
	}
	return a.write(func() error {
		u.SetUID(types.UID("uid-" + u.GetName()))
		u.SetCreationTimestamp(metav1.NewTime(a.now))
		a.keep(d, u)
		return nil
	})
}

// keep stores an object in the version that is stored, under the next revision.
func (a *apiserver) keep(d *apiextensionsv1.CustomResourceDefinition, u *unstructured.Unstructured) {
	of := u.GroupVersionKind()
	for _, v := range d.Spec.Versions {
		if v.Storage {
			of.Version = v.Name
		}
	}
	stored := cut(d, runtime.DeepCopyJSON(u.Object), of.GroupVersion().String())
	kept := a.objects[of.GroupKind()]
	if kept == nil {
		kept = map[string]map[string]any{}
		a.objects[of.GroupKind()] = kept
	}
	next := unstructured.Unstructured{Object: stored}
	if reflect.DeepEqual(kept[u.GetName()], next.Object) {
		return // nothing is new
	}
	a.revision++
	next.SetResourceVersion(strconv.Itoa(a.revision))
	u.SetResourceVersion(next.GetResourceVersion())
	kept[u.GetName()] = next.Object
}

func (a *apiserver) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	if d, is := o.(*apiextensionsv1.CustomResourceDefinition); is {
		return a.write(func() error { return a.redefine(d) })
	}
	return a.replace(o.(*unstructured.Unstructured), "status")
}

// redefine takes a definition as an API server does: no version goes in which objects may
// be stored.
func (a *apiserver) redefine(d *apiextensionsv1.CustomResourceDefinition) error {
	was := a.definitions[d.Name]
	next := d.DeepCopy()
	next.Status = *was.Status.DeepCopy()
	gateOf(next) // it is one that an API server takes
	for _, v := range next.Spec.Versions {
		if v.Storage && !slices.Contains(next.Status.StoredVersions, v.Name) {
			next.Status.StoredVersions = append(next.Status.StoredVersions, v.Name)
		}
	}
	for _, stored := range next.Status.StoredVersions {
		if !slices.ContainsFunc(next.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == stored }) {
			return fmt.Errorf("status.storedVersions has %s, which must stay in spec.versions", stored)
		}
	}
	a.before[d.Name], a.behind = was, a.lag
	a.definitions[d.Name] = next
	return nil
}

// replace writes an object but for one part of it.
func (a *apiserver) replace(u *unstructured.Unstructured, but string) error {
	d, err := a.held(u.GroupVersionKind())
	if err != nil {
		return err
	}
	old, err := shown(d, a.objects[u.GroupVersionKind().GroupKind()][u.GetName()], u.GroupVersionKind())
	if err != nil {
		return err
	}
	if have := (&unstructured.Unstructured{Object: old}); have.GetResourceVersion() != u.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{}, u.GetName(), errors.New("it has changed"))
	}
	asked := runtime.DeepCopyJSON(u.Object)
	delete(asked, but)
	if had, there := old[but]; there {
		asked[but] = had
	}
	filled, err := gateOf(d).Update(asked, old)
	if err != nil {
		return err
	}
	return a.write(func() error {
		u.Object = filled
		a.keep(d, u)
		return nil
	})
}

func (a *apiserver) Status() client.SubResourceWriter { return statuses{apiserver: a} }

type statuses struct {
	client.SubResourceWriter
	*apiserver
}

func (s statuses) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	panic("nobody creates a status")
}

func (s statuses) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	panic("nobody applies a status")
}

func (s statuses) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	panic("nobody patches a status")
}

func (s statuses) Get(context.Context, client.Object, client.Object, ...client.SubResourceGetOption) error {
	panic("nobody gets a status")
}

func (s statuses) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	if d, is := o.(*apiextensionsv1.CustomResourceDefinition); is {
		return s.write(func() error {
			s.definitions[d.Name].Status = *d.Status.DeepCopy()
			return nil
		})
	}
	return s.replace(o.(*unstructured.Unstructured), "spec")
}

func (a *apiserver) Patch(_ context.Context, o client.Object, p client.Patch, _ ...client.PatchOption) error {
	data, err := p.Data(o)
	if err != nil {
		return err
	}
	var patch struct{ Metadata metav1.ObjectMeta }
	if err := json.Unmarshal(data, &patch); err != nil {
		return err
	}
	return a.write(func() error {
		for i := range a.nodes {
			if n := &a.nodes[i]; n.Name == o.GetName() && n.UID == patch.Metadata.UID {
				n.OwnerReferences = patch.Metadata.OwnerReferences
			}
		}
		return nil
	})
}
