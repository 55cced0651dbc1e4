package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type fields = map[string]any

// meta names the resource of a kind. The guess of apimachinery takes the plural of NodeOverlay for that of a policy.
func meta(kind schema.GroupVersionKind) (plural, singular schema.GroupVersionResource) {
	plural, singular = apimeta.UnsafeGuessKindToResource(kind)
	if strings.HasSuffix(singular.Resource, "ay") {
		plural.Resource = singular.Resource + "s"
	}
	return plural, singular
}

// change applies a merge patch to the status of an object, or to all but its
// status, and returns what is stored then.
func (s *Server) change(kind schema.GroupVersionKind, key types.NamespacedName, patch []byte, status bool) (client.Object, error) {
	have, err := s.get(kind, key)
	if err != nil {
		return nil, err
	}
	var wanted fields
	if err := utiljson.Unmarshal(patch, &wanted); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if metadata, ok := wanted["metadata"].(fields); ok {
		if seen, locked := metadata["resourceVersion"].(string); locked && seen != have.GetResourceVersion() {
			return nil, apierrors.NewConflict(resourceOf(kind), key.Name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
		}
	}
	before, err := s.stored(have)
	if err != nil {
		return nil, err
	}
	return s.store(kind, have, before, merge(before, wanted).(fields), status)
}

// store writes what a patch made of an object, less what it may not touch.
func (s *Server) store(kind schema.GroupVersionKind, have client.Object, before, after fields, status bool) (client.Object, error) {
	if status {
		kept := after["status"]
		after = merge(before, nil).(fields)
		setOrDrop(after, "status", kept)
	} else {
		setOrDrop(after, "status", before["status"])
	}
	next, err := s.fromFields(kind, after)
	if err != nil {
		return nil, err
	}
	next.SetUID(have.GetUID())
	next.SetCreationTimestamp(have.GetCreationTimestamp())
	next.SetDeletionTimestamp(have.GetDeletionTimestamp())
	next.SetResourceVersion(have.GetResourceVersion())
	next.SetGeneration(have.GetGeneration())
	if !reflect.DeepEqual(before["spec"], after["spec"]) && !isBound(have, next) {
		next.SetGeneration(have.GetGeneration() + 1)
	}
	if next, err = s.admitChanged(kind, next, have, after, before); err != nil {
		return nil, err
	}
	switch {
	case reflect.DeepEqual(have, next): // a write that changes nothing is none
	case next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 && len(have.GetFinalizers()) > 0:
		s.put(kind, next, deleted)
	default:
		s.put(kind, next, modified)
	}
	return next, nil
}

// isBound reports whether a pod got its node, which is no change of what was asked for.
func isBound(before, after client.Object) bool {
	was, pod := before.(*corev1.Pod)
	is, _ := after.(*corev1.Pod)
	return pod && was.Spec.NodeName == "" && is.Spec.NodeName != ""
}

func setOrDrop(f fields, key string, value any) {
	if value == nil {
		delete(f, key)
		return
	}
	f[key] = value
}

// merge is RFC 7386: it returns a value and leaves both arguments alone. A
// nil patch of fields copies.
func merge(have, patch any) any {
	given, isFields := patch.(fields)
	if patch != nil && !isFields {
		return patch
	}
	out := fields{}
	if f, ok := have.(fields); ok {
		for k, v := range f {
			out[k] = v
		}
	}
	for k, v := range given {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = merge(out[k], v)
	}
	return out
}

func toFields(o any) (fields, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", o, err)
	}
	var f fields
	return f, utiljson.Unmarshal(text, &f) // whole numbers stay whole, as rules on them expect
}

func (s *Server) fromFields(kind schema.GroupVersionKind, f fields) (client.Object, error) {
	o, err := s.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("make a %s: %w", kind.Kind, err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind.Kind, err)
	}
	if err := json.Unmarshal(text, o); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return o.(client.Object), nil
}

// copyInto makes a caller's object equal to one that is held.
func copyInto(to, from client.Object) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}
