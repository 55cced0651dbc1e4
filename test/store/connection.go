package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Verb is what a call does.
type Verb string

// The verbs.
const (
	Get    Verb = "get"
	List   Verb = "list"
	Create Verb = "create"
	Change Verb = "patch"
	Update Verb = "update" // which replaces the whole object
	Delete Verb = "delete"
	Evict  Verb = "evict"
)

// Call is one request to the server.
type Call struct {
	Verb   Verb
	Kind   string
	Name   string
	Status bool // of the status subresource
	Scale  bool // of the scale subresource
}

// Writes reports whether the call changes anything.
func (c Call) Writes() bool { return c.Verb != Get && c.Verb != List }

// String prints "patch NodeClaim/default-abcde status".
func (c Call) String() string {
	text := fmt.Sprintf("%s %s/%s", c.Verb, c.Kind, c.Name)
	switch {
	case c.Status:
		return text + " status"
	case c.Scale:
		return text + " scale"
	}
	return text
}

// Fault is asked at every call. An error before keeps the call from having
// an effect; an error after loses the reply of one that had.
type Fault func(Call) (before, after error)

// Connection is a client of the server that reads past every cache. Calls go
// through its fault.
type Connection struct {
	User string // the user of the connection, in audits

	server *Server
	fault  Fault
}

var _ client.Client = (*Connection)(nil)

// Connect opens a client. fault may be nil.
func (s *Server) Connect(fault Fault) *Connection {
	if fault == nil {
		fault = func(Call) (error, error) { return nil, nil }
	}
	return &Connection{server: s, fault: fault}
}

// do runs a call's effect under the server's lock, unless a fault is due.
func (c *Connection) do(ctx context.Context, verb Verb, o runtime.Object, status bool, effect func(kind schema.GroupVersionKind) error) error {
	return c.call(ctx, Call{Verb: verb, Status: status}, o, effect)
}

func (c *Connection) call(ctx context.Context, call Call, o runtime.Object, effect func(kind schema.GroupVersionKind) error) error {
	kind, err := c.server.kindOf(o)
	if err != nil {
		return err
	}
	call.Kind = kind.Kind
	if named, ok := o.(client.Object); ok {
		call.Name = named.GetName()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before, after := c.fault(call)
	if before != nil {
		return before
	}
	c.server.mu.Lock()
	c.server.user, c.server.call = c.User, call
	err = effect(kind)
	c.server.mu.Unlock()
	if after != nil {
		return after
	}
	return err
}

// Get implements client.Reader.
func (c *Connection) Get(ctx context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	return c.do(ctx, Get, o, false, func(kind schema.GroupVersionKind) error {
		have, err := c.server.get(kind, key)
		if err != nil {
			return err
		}
		copyInto(o, have)
		return nil
	})
}

// List implements client.Reader. Fields may be selected as in fieldsOf.
func (c *Connection) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.do(ctx, List, list, false, func(kind schema.GroupVersionKind) error {
		kind.Kind = kind.Kind[:len(kind.Kind)-len("List")]
		list.SetResourceVersion(strconv.FormatUint(c.server.revision, 10))
		return fill(list, c.server.all(kind), options)
	})
}

// Create implements client.Writer.
func (c *Connection) Create(ctx context.Context, o client.Object, _ ...client.CreateOption) error {
	return c.do(ctx, Create, o, false, func(kind schema.GroupVersionKind) error {
		made := o.DeepCopyObject().(client.Object)
		if err := c.server.create(kind, made); err != nil {
			return err
		}
		copyInto(o, made)
		return nil
	})
}

// Delete implements client.Writer.
func (c *Connection) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	var asked client.DeleteOptions
	asked.ApplyOptions(options)
	return c.do(ctx, Delete, o, false, func(kind schema.GroupVersionKind) error {
		return c.server.remove(kind, client.ObjectKeyFromObject(o), asked)
	})
}

// Update implements client.Writer.
func (c *Connection) Update(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
	return c.update(ctx, o, false)
}

func (c *Connection) update(ctx context.Context, o client.Object, status bool) error {
	return c.do(ctx, Update, o, status, func(kind schema.GroupVersionKind) error {
		have, err := c.server.get(kind, client.ObjectKeyFromObject(o))
		if err != nil {
			return err
		}
		if seen := o.GetResourceVersion(); seen != "" && seen != have.GetResourceVersion() {
			return apierrors.NewConflict(resourceOf(kind), o.GetName(), errors.New("the object has been modified"))
		}
		before, err := c.server.stored(have)
		if err != nil {
			return err
		}
		after, err := toFields(o)
		if err != nil {
			return err
		}
		next, err := c.server.store(kind, have, before, after, status)
		if err != nil {
			return err
		}
		copyInto(o, next)
		return nil
	})
}

// Patch implements client.Writer, for merge patches.
func (c *Connection) Patch(ctx context.Context, o client.Object, p client.Patch, _ ...client.PatchOption) error {
	return c.patch(ctx, o, p, false)
}

func (c *Connection) patch(ctx context.Context, o client.Object, p client.Patch, status bool) error {
	if p.Type() != types.MergePatchType {
		return fmt.Errorf("patch of type %s: this server knows merge patches alone", p.Type())
	}
	text, err := p.Data(o)
	if err != nil {
		return fmt.Errorf("encode patch of %s: %w", o.GetName(), err)
	}
	if !json.Valid(text) {
		return fmt.Errorf("patch of %s is not JSON", o.GetName())
	}
	return c.do(ctx, Change, o, status, func(kind schema.GroupVersionKind) error {
		next, err := c.server.change(kind, client.ObjectKeyFromObject(o), text, status)
		if err != nil {
			return err
		}
		copyInto(o, next)
		return nil
	})
}

// DeleteAllOf implements client.Writer; it is not supported.
func (c *Connection) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	return errors.New("deleting collections is not supported here")
}

// Apply implements client.Writer; it is not supported.
func (c *Connection) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errors.New("server-side apply is not supported here")
}

// Scheme implements client.Client.
func (c *Connection) Scheme() *runtime.Scheme { return c.server.scheme }

// RESTMapper implements client.Client: the server has all kinds of its scheme.
func (c *Connection) RESTMapper() apimeta.RESTMapper { return Mapper(c.Scheme()) }

// Mapper knows the kinds of a scheme. That none of them lives in a namespace is said of
// all.
func Mapper(s *runtime.Scheme) apimeta.RESTMapper {
	all := apimeta.NewDefaultRESTMapper(nil)
	for kind := range s.AllKnownTypes() {
		all.Add(kind, apimeta.RESTScopeRoot)
	}
	return all
}

// GroupVersionKindFor implements client.Client.
func (c *Connection) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return c.server.kindOf(o)
}

// IsObjectNamespaced implements client.Client: by whether it has a namespace.
func (c *Connection) IsObjectNamespaced(o runtime.Object) (bool, error) {
	accessor, err := apimeta.Accessor(o)
	return err == nil && accessor.GetNamespace() != "", err
}

// Status implements client.StatusClient.
func (c *Connection) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource implements client.Client, for "status" and "eviction", and for patches of "scale".
func (c *Connection) SubResource(name string) client.SubResourceClient { return subresource{c, name} }

type subresource struct {
	c    *Connection
	name string
}

func (s subresource) Get(context.Context, client.Object, client.Object, ...client.SubResourceGetOption) error {
	return fmt.Errorf("reading subresource %s is not supported here", s.name)
}

func (s subresource) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return errors.New("server-side apply is not supported here")
}

func (s subresource) Create(ctx context.Context, o, sub client.Object, _ ...client.SubResourceCreateOption) error {
	asked, ok := sub.(*policyv1.Eviction)
	if s.name != "eviction" || !ok {
		return fmt.Errorf("creating subresource %s is not supported here", s.name)
	}
	return s.c.do(ctx, Evict, o, false, func(kind schema.GroupVersionKind) error {
		return s.c.server.evict(kind, client.ObjectKeyFromObject(o), asked.DeleteOptions)
	})
}

func (s subresource) Update(ctx context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return s.c.update(ctx, o, true)
}

func (s subresource) Patch(ctx context.Context, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
	if s.name == "scale" {
		return s.c.scale(ctx, o, p)
	}
	return s.c.patch(ctx, o, p, true)
}

// scale patches the replicas of an object, under the lock that the patch names, and
// nothing else of it.
func (c *Connection) scale(ctx context.Context, o client.Object, p client.Patch) error {
	text, err := p.Data(o)
	if err != nil {
		return fmt.Errorf("encode patch of the scale of %s: %w", o.GetName(), err)
	}
	var asked autoscalingv1.Scale
	if err := json.Unmarshal(text, &asked); err != nil {
		return fmt.Errorf("patch of the scale of %s: %w", o.GetName(), err)
	}
	wanted := fields{"spec": fields{"replicas": asked.Spec.Replicas}}
	if asked.ResourceVersion != "" {
		wanted["metadata"] = fields{"resourceVersion": asked.ResourceVersion}
	}
	if text, err = json.Marshal(wanted); err != nil {
		return err
	}
	return c.call(ctx, Call{Verb: Change, Scale: true}, o, func(kind schema.GroupVersionKind) error {
		_, err := c.server.change(kind, client.ObjectKeyFromObject(o), text, false)
		return err
	})
}
