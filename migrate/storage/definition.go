package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// definitions are those that a cluster has of the kinds, by their names.
type definitions struct {
	of map[string]*apiextensionsv1.CustomResourceDefinition
}

// look reads the definitions.
func (m *Mover) look(ctx context.Context) (*definitions, error) {
	out := &definitions{map[string]*apiextensionsv1.CustomResourceDefinition{}}
	for _, k := range kinds {
		d := &apiextensionsv1.CustomResourceDefinition{}
		err := m.Store.Get(ctx, client.ObjectKey{Name: k.definition()}, d)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read definition %s: %w", k.definition(), err)
		}
		out.of[d.Name] = d
	}
	if len(out.of) == 0 {
		return nil, fmt.Errorf("the cluster has none of the definitions %s: apply Daemok's, there is nothing to move", strings.Join(names(), ", "))
	}
	return out, nil
}

func names() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.definition())
	}
	return out
}

// stable reports whether v1 alone is left of every kind that is there.
func (d *definitions) stable() bool {
	return !slices.ContainsFunc(kinds, func(k kind) bool { return d.pending(k) })
}

// pending reports whether a kind is there and still has the older version.
func (d *definitions) pending(k kind) bool {
	at, there := d.of[k.definition()]
	return there && (versionOf(at, older) != nil || slices.Contains(at.Status.StoredVersions, older))
}

// serves reports whether objects can be read in a version.
func (d *definitions) serves(k kind, version string) bool {
	v := versionOf(d.of[k.definition()], version)
	return v != nil && v.Served
}

func versionOf(d *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	if d == nil {
		return nil
	}
	for i := range d.Spec.Versions {
		if d.Spec.Versions[i].Name == name {
			return &d.Spec.Versions[i]
		}
	}
	return nil
}

func converted(d *apiextensionsv1.CustomResourceDefinition) bool {
	return d.Spec.Conversion != nil && d.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// change writes a definition, and takes it in as it then is.
func (m *Mover) change(ctx context.Context, found *definitions, name string, edit func(*apiextensionsv1.CustomResourceDefinition)) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := m.Store.Get(ctx, client.ObjectKey{Name: name}, d); err != nil {
			return err
		}
		edit(d)
		if err := m.Store.Update(ctx, d); err != nil {
			return err
		}
		found.of[name] = d
		return nil
	})
	if err != nil {
		return fmt.Errorf("change definition %s: %w", name, err)
	}
	return nil
}

// detach has objects read as they are stored, whatever has become of the webhook that
// converts them: it was served by the controller that runs no more.
func (m *Mover) detach(ctx context.Context, found *definitions) error {
	for _, k := range kinds {
		d := found.of[k.definition()]
		if d == nil || !converted(d) {
			continue
		}
		err := m.change(ctx, found, d.Name, func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		})
		if err != nil {
			return err
		}
		m.report("definition %s: its conversion webhook is not asked any more", d.Name)
	}
	return nil
}

// reattach takes detach back, of definitions that nothing else has changed yet.
func (m *Mover) reattach(ctx context.Context, kept *export) error {
	found, err := m.look(ctx)
	if err != nil {
		return err
	}
	for _, was := range kept.definitions {
		now := found.of[was.Name]
		if now == nil || !converted(&was) || converted(now) || opened(now) {
			continue
		}
		err := m.change(ctx, found, was.Name, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Conversion = was.Spec.Conversion.DeepCopy() })
		if err != nil {
			return err
		}
		m.report("definition %s: its conversion webhook is asked again, as before", was.Name)
	}
	return nil
}

// opened reports whether a definition is the one between.
func opened(d *apiextensionsv1.CustomResourceDefinition) bool {
	v := versionOf(d, older)
	return v != nil && !v.Served && v.Schema != nil && v.Schema.OpenAPIV3Schema.XPreserveUnknownFields != nil
}

// between is our definition with both versions, of which v1 is stored and served, that
// keeps every field and has no rules.
func (m *Mover) between(k kind) apiextensionsv1.CustomResourceDefinitionSpec {
	spec := *m.Rules.definitions[k.definition()].Spec.DeepCopy()
	for i := range spec.Versions {
		v := &spec.Versions[i]
		v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: new(true),
		}}
	}
	before := *versionOf(&apiextensionsv1.CustomResourceDefinition{Spec: spec}, newer).DeepCopy()
	before.Name, before.Served, before.Storage = older, false, false
	spec.Versions = append(spec.Versions, before)
	spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	return spec
}

// open installs the definitions between, and waits until the API server goes by them.
func (m *Mover) open(ctx context.Context, found *definitions) error {
	for _, k := range kinds {
		if !found.pending(k) {
			continue
		}
		if !opened(found.of[k.definition()]) {
			err := m.change(ctx, found, k.definition(), func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec = m.between(k) })
			if err != nil {
				return err
			}
			m.report("definition %s: stores %s, and keeps every field while its objects are rewritten", k.definition(), newer)
		}
		if err := m.until(ctx, "definition "+k.definition()+" holds", func() error { return m.probe(ctx, k) }); err != nil {
			return err
		}
	}
	return nil
}

// probe asks the API server, which stores nothing of it, to create an object with a field
// that the definition between alone keeps.
func (m *Mover) probe(ctx context.Context, k kind) error {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"daemokProbe": true}}}
	o.SetGroupVersionKind(k.of(newer))
	o.SetName("daemok-probe")
	if err := m.Store.Create(ctx, o, client.DryRunAll); err != nil {
		return err
	}
	if kept, _, _ := unstructured.NestedBool(o.Object, "spec", "daemokProbe"); !kept {
		return fmt.Errorf("the API server still goes by the definition of before")
	}
	return nil
}

// triesMax is how often something is examined that comes by itself.
const triesMax = 60

// until tries as long as it may help.
func (m *Mover) until(ctx context.Context, what string, try func() error) error {
	var err error
	for range triesMax {
		if err = try(); err == nil || !passes(err) {
			break
		}
		if wrong := m.Wait(ctx); wrong != nil {
			return wrong
		}
	}
	if err != nil {
		return fmt.Errorf("wait until %s: %w", what, err)
	}
	return nil
}

// passes reports whether an error may go by itself: definitions take a moment to be
// followed. What is forbidden stays so.
func passes(err error) bool { return !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) }

// close leaves v1 alone: nothing is stored as anything else.
func (m *Mover) close(ctx context.Context, found *definitions, plan *plan) error {
	if err := m.verify(ctx, found, plan); err != nil {
		return err
	}
	for _, k := range kinds {
		if !found.pending(k) {
			continue
		}
		if err := m.trim(ctx, k.definition()); err != nil {
			return err
		}
		ours := m.Rules.definitions[k.definition()]
		err := m.change(ctx, found, k.definition(), func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec = *ours.Spec.DeepCopy() })
		if err != nil {
			return err
		}
		m.report("definition %s: has %s alone, with its rules", k.definition(), newer)
	}
	return nil
}

// trim says that nothing is stored in an older version.
func (m *Mover) trim(ctx context.Context, name string) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := m.Store.Get(ctx, client.ObjectKey{Name: name}, d); err != nil {
			return err
		}
		if slices.Equal(d.Status.StoredVersions, []string{newer}) {
			return nil
		}
		d.Status.StoredVersions = []string{newer}
		err := m.Store.Status().Update(ctx, d)
		if err == nil {
			m.report("definition %s: its stored versions are %s alone", name, newer)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("trim the stored versions of definition %s: %w", name, err)
	}
	return nil
}
