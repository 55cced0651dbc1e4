package admissiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Server is what a case is tried against: an API server, or what stands for
// one. Each call returns the object as stored, or the refusal.
type Server interface {
	Create(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, error)
	Update(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, error)
	UpdateStatus(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, error)
}

// Try tries the case, and returns an error that says what was expected and
// what happened instead. What it created stays there.
func (c Case) Try(ctx context.Context, s Server) error {
	stored, refusal := c.steps(ctx, s)
	if c.Refused != "" {
		return c.expectRefusal(refusal)
	}
	if refusal != nil {
		return fmt.Errorf("want it accepted, got: %w", refusal)
	}
	return c.contains(stored)
}

func (c Case) expectRefusal(refusal error) error {
	if refusal == nil {
		return fmt.Errorf("want it refused with %q, got it accepted", c.Refused)
	}
	if !strings.Contains(refusal.Error(), c.Refused) {
		return fmt.Errorf("want it refused with %q, got: %w", c.Refused, refusal)
	}
	return nil
}

func (c Case) steps(ctx context.Context, s Server) (*unstructured.Unstructured, error) {
	stored, err := s.Create(ctx, c.Object.DeepCopy())
	if err == nil && c.OfStatus {
		next := c.Object.DeepCopy()
		next.SetResourceVersion(stored.GetResourceVersion())
		stored, err = s.UpdateStatus(ctx, next)
	}
	if err != nil || c.Update == nil {
		return stored, err
	}
	next := c.Update.DeepCopy()
	next.SetResourceVersion(stored.GetResourceVersion())
	return s.Update(ctx, next)
}

// contains checks that merging the wanted fields in changes nothing.
func (c Case) contains(stored *unstructured.Unstructured) error {
	before, err := stored.MarshalJSON()
	if err != nil {
		return err
	}
	want, err := json.Marshal(c.Stored)
	if err != nil || c.Stored == nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, want)
	if err != nil {
		return err
	}
	merged := new(unstructured.Unstructured)
	if err := merged.UnmarshalJSON(after); err != nil {
		return err
	}
	if !reflect.DeepEqual(stored.Object, merged.Object) {
		return fmt.Errorf("want %s in what is stored, got %s", want, before)
	}
	return nil
}
