package store

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/admit"
	"github.com/daemok/daemok/kube/api/crds"
)

// gate admits Daemok's own kinds. Its rules are compiled once for all servers:
// that takes a second.
var gate = sync.OnceValues(func() (*admit.Gate, error) {
	definitions, err := crds.All()
	if err != nil {
		return nil, err
	}
	return admit.New(definitions)
})

// own reports whether a kind has a definition of Daemok's.
func own(kind schema.GroupVersionKind) (*admit.Gate, bool, error) {
	g, err := gate()
	if err != nil {
		return nil, false, fmt.Errorf("compile the definitions of Daemok's kinds: %w", err)
	}
	return g, g.Knows(kind), nil
}

// admitCreated is what is stored of a new object, with its defaults, or the
// refusal. Objects of kinds that are not Daemok's stay as they are.
func (s *Server) admitCreated(kind schema.GroupVersionKind, o client.Object) (client.Object, error) {
	g, ours, err := own(kind)
	if err != nil || !ours {
		return o, err
	}
	asked, err := toFields(o)
	if err != nil {
		return nil, err
	}
	if s.saysNothing(kind, asked["status"]) {
		delete(asked, "status") // as users write it; Go has a zero for every field
	}
	namespaced := kind.Group == api.GroupAutoscaling && kind.Kind != "CapacityQuota"
	errs := validation.ValidateObjectMetaAccessor(o, namespaced, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return s.admitted(kind, o, errs, func() (fields, error) { return g.Create(typed(kind, asked)) })
}

// admitChanged is the same for one that replaces another, both as objects and as
// the fields they are stored with.
func (s *Server) admitChanged(kind schema.GroupVersionKind, o, old client.Object, asked, before fields) (client.Object, error) {
	g, ours, err := own(kind)
	if err != nil || !ours {
		return o, err
	}
	errs := validation.ValidateObjectMetaAccessorUpdate(o, old, field.NewPath("metadata"))
	return s.admitted(kind, o, errs, func() (fields, error) { return g.Update(typed(kind, asked), typed(kind, before)) })
}

func (s *Server) admitted(kind schema.GroupVersionKind, o client.Object, errs field.ErrorList, check func() (fields, error)) (client.Object, error) {
	stored, err := check()
	var all utilerrors.Aggregate
	if err != nil && !errors.As(err, &all) {
		return nil, fmt.Errorf("admit %s %s: %w", kind.Kind, o.GetName(), err)
	}
	if all != nil {
		for _, err := range all.Errors() {
			var one *field.Error
			if !errors.As(err, &one) {
				return nil, fmt.Errorf("admit %s %s: %w", kind.Kind, o.GetName(), err)
			}
			errs = append(errs, one)
		}
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(kind.GroupKind(), o.GetName(), errs)
	}
	next, err := s.fromFields(kind, fields{"spec": stored["spec"], "status": stored["status"]})
	if err != nil {
		return nil, err
	}
	metadata := reflect.ValueOf(o).Elem().FieldByName("ObjectMeta")
	reflect.ValueOf(next).Elem().FieldByName("ObjectMeta").Set(metadata)
	s.bodies[o.GetUID()] = fields{"spec": stored["spec"], "status": stored["status"]}
	return next, nil
}

// typed is fields that say of what kind they are.
func typed(kind schema.GroupVersionKind, f fields) fields {
	out := merge(f, nil).(fields)
	out["apiVersion"], out["kind"] = kind.ToAPIVersionAndKind()
	return out
}

// saysNothing reports whether a status is that of an object without one.
func (s *Server) saysNothing(kind schema.GroupVersionKind, status any) bool {
	none, err := s.scheme.New(kind)
	if err != nil {
		return false
	}
	f, err := toFields(none)
	return err == nil && reflect.DeepEqual(f["status"], status)
}

// stored are the fields an object is stored with. An object of Daemok's has
// those that were written, no zeros of Go for what was not: a status that a
// patch leaves incomplete is refused.
func (s *Server) stored(o client.Object) (fields, error) {
	f, err := toFields(o)
	if err != nil {
		return nil, err
	}
	if body, ours := s.bodies[o.GetUID()]; ours {
		setOrDrop(f, "spec", body["spec"])
		setOrDrop(f, "status", body["status"])
	}
	return f, nil
}
