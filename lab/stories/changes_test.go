package stories_test

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// What a user does with kubectl, without the half second that a process takes:
// a story acts on what it has just seen before that is over.

const deployments = "apps/v1/Deployment"

// patch merges a change, in JSON, into an object: of the story's namespace where its Kind
// has namespaces.
func (s *story) patch(kind, name, change string) {
	s.Helper()
	_, err := s.resource(kind).Patch(s.Context(), name, types.MergePatchType, []byte(change), metav1.PatchOptions{})
	if err != nil {
		s.Fatalf("patch %s %s: %v", kind, name, err)
	}
}

// annotate gives an object an annotation.
func (s *story) annotate(kind, name, key, value string) {
	s.Helper()
	s.patch(kind, name, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value))
}

// scale wants so many pods of a deployment.
func (s *story) scale(deployment string, pods int) {
	s.Helper()
	s.patch(deployments, deployment, fmt.Sprintf(`{"spec":{"replicas":%d}}`, pods))
}

// drop deletes an object that is there, and does not wait until it is gone.
func (s *story) drop(kind, name string) {
	s.Helper()
	if err := s.resource(kind).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatalf("delete %s %s: %v", kind, name, err)
	}
}

// dropAtEnd deletes an object of the story when that ends, if it is still there; a pool
// takes its nodes with it at once.
func (s *story) dropAtEnd(kind, name string) {
	s.Helper()
	all := s.resource(kind)
	s.Cleanup(func() {
		ctx := context.Background()
		if kind == pools {
			_, err := all.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"daemok.sh/delete":"fast"}}}`), metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				s.Errorf("have the nodes of %s go with it: %v", name, err)
			}
		}
		if err := all.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			s.Errorf("delete %s %s: %v", kind, name, err)
		}
	})
}

// list returns the objects of a Kind as they are now, as await would.
func (s *story) list(kind string) (found []*unstructured.Unstructured) {
	s.Helper()
	all, err := s.resource(kind).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatalf("list %s: %v", kind, err)
	}
	for i := range all.Items {
		found = append(found, &all.Items[i])
	}
	return found
}
