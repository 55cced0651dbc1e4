package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/pages"
)

// live are the objects of a cluster by kind and name.
type live map[kind]map[string]*unstructured.Unstructured

// unchanged reads the objects, and refuses what another user or controller has changed or made
// since the export.
func (m *Mover) unchanged(ctx context.Context, found *definitions, p *plan) (live, error) {
	now := live{}
	for _, k := range kinds {
		now[k] = map[string]*unstructured.Unstructured{}
		all, err := m.read(ctx, found, k)
		if err != nil {
			return nil, err
		}
		for i := range all {
			now[k][all[i].GetName()] = all[i].Unstructured
		}
	}
	return now, refusal(m.changed(p, now))
}

// rewrite writes every object as it is to be.
func (m *Mover) rewrite(ctx context.Context, found *definitions, p *plan) error {
	now, err := m.unchanged(ctx, found, p)
	if err != nil {
		return err
	}
	for i := range p.targets {
		t := &p.targets[i]
		if !found.pending(t.kind) {
			continue // v1 alone is left of it
		}
		if err := m.put(ctx, t, now[t.kind][t.name]); err != nil {
			return fmt.Errorf("rewrite %s %s: %w", t.Kind, t.name, err)
		}
	}
	return nil
}

// changed names what is neither as it was exported nor as it is to be.
func (m *Mover) changed(p *plan, now live) []string {
	var out []string
	planned := map[kind]map[string]bool{classes: {}, pools: {}, claims: {}}
	for i := range p.targets {
		t := &p.targets[i]
		planned[t.kind][t.name] = true
		o := now[t.kind][t.name]
		if o == nil || t.holds(o) || t.isBefore(o) {
			continue
		}
		if t.from == nil {
			out = append(out, fmt.Sprintf("%s %s is there by now, and is not what is to be made under that name: rename or delete it", t.Kind, t.name))
		} else {
			out = append(out, fmt.Sprintf("%s %s was changed since it was exported: put it back as it is in %s, or give a new folder, so that it is exported as it is now",
				t.Kind, t.name, filepath.Join(m.Folder, t.plural, t.name+".yaml")))
		}
	}
	for _, k := range kinds {
		for _, name := range slices.Sorted(maps.Keys(now[k])) {
			if !planned[k][name] {
				out = append(out, fmt.Sprintf("%s %s was made since the export: give a new folder, so that it is exported too", k.Kind, name))
			}
		}
	}
	return out
}

// holds reports whether an object is as it is to be, however it is stored.
func (t *target) holds(o *unstructured.Unstructured) bool {
	return within(t.spec, o.Object["spec"])
}

// isBefore reports whether an object is as it was exported: nothing in it is another. What
// it lacks are defaults that are filled in when it is read.
func (t *target) isBefore(o *unstructured.Unstructured) bool {
	return t.from != nil && t.from.GetUID() == o.GetUID() && within(o.Object["spec"], t.from.Object["spec"])
}

// within reports whether whatever is in one value is in the other too.
func within(a, b any) bool {
	of, isMap := a.(map[string]any)
	if !isMap {
		return reflect.DeepEqual(a, b)
	}
	in, isMap := b.(map[string]any)
	if !isMap {
		return false
	}
	for key, value := range of {
		if other, there := in[key]; !there || !within(value, other) {
			return false
		}
	}
	return true
}

// put writes one object. One that is already as it is to be is written all the same, so
// that the version it is stored in is v1.
func (m *Mover) put(ctx context.Context, t *target, o *unstructured.Unstructured) error {
	switch {
	case o == nil && t.from != nil:
		m.report("%s %s is gone by now", t.Kind, t.name)
		return nil
	case o == nil:
		o = &unstructured.Unstructured{Object: map[string]any{"spec": t.spec}}
		o.SetGroupVersionKind(t.of(newer))
		o.SetName(t.name)
		if err := m.Store.Create(ctx, o); err != nil {
			return err
		}
		m.report("%s %s is made", t.Kind, t.name)
		return nil
	}
	was := o.DeepCopy()
	o.SetGroupVersionKind(t.of(newer))
	o.Object["spec"] = t.spec
	o.SetOwnerReferences(owned(o.GetOwnerReferences()))
	annotations := o.GetAnnotations()
	for _, key := range t.without {
		delete(annotations, key)
	}
	o.SetAnnotations(annotations)
	if err := m.Store.Update(ctx, o); err != nil {
		return err
	}
	if !t.holds(o) {
		return fmt.Errorf("the API server keeps something else than what was written: run this again")
	}
	if t.status != nil && !reflect.DeepEqual(t.status, o.Object["status"]) {
		o.Object["status"] = t.status
		if err := m.Store.Status().Update(ctx, o); err != nil {
			return fmt.Errorf("its status: %w", err)
		}
	}
	if was.GetResourceVersion() != o.GetResourceVersion() {
		m.report("%s %s is rewritten", t.Kind, t.name)
	}
	return nil
}

// verify reports what is not as it is to be.
func (m *Mover) verify(ctx context.Context, found *definitions, p *plan) error {
	now, err := m.unchanged(ctx, found, p)
	if err != nil {
		return err
	}
	for i := range p.targets {
		t := &p.targets[i]
		if o := now[t.kind][t.name]; o != nil && !t.holds(o) {
			return fmt.Errorf("%s %s was written by another client meanwhile: run this again", t.Kind, t.name)
		}
	}
	return nil
}

// owned are references to owners in the version that stays.
func owned(by []metav1.OwnerReference) []metav1.OwnerReference {
	for i := range by {
		group, version, _ := strings.Cut(by[i].APIVersion, "/")
		if version == older && (group == api.GroupKarpenter || group == api.GroupAWS) {
			by[i].APIVersion = group + "/" + newer
		}
	}
	return by
}

// reown has nodes refer to their claims in the version that stays: what is owned by a kind
// in a version that is not served is not collected. Nothing else of a node is written.
func (m *Mover) reown(ctx context.Context) error {
	var nodes []corev1.Node // with the owners that they are to have
	err := pages.Each(ctx, m.Store, &corev1.NodeList{}, func(l *corev1.NodeList) {
		for i := range l.Items {
			n := &l.Items[i]
			before := slices.Clone(n.OwnerReferences)
			if n.OwnerReferences = owned(n.OwnerReferences); !reflect.DeepEqual(before, n.OwnerReferences) {
				nodes = append(nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, OwnerReferences: n.OwnerReferences}})
			}
		}
	})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes {
		n := &nodes[i]
		// By UID, so that no other node of that name is meant; owners are a list that is
		// merged by their UIDs.
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": n.UID, "ownerReferences": n.OwnerReferences}})
		if err != nil {
			return err
		}
		if err := m.Store.Patch(ctx, n, client.RawPatch(types.StrategicMergePatchType, patch)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("write the owners of node %s: %w", n.Name, err)
		}
		m.report("Node %s: its owner is a NodeClaim of %s", n.Name, newer)
	}
	return nil
}
