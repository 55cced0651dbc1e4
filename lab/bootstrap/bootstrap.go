// Package bootstrap adds to an empty cluster what an EKS cluster made by the getting-started guides
// has: DNS, storage, metrics and the webhook of pod identities, and, unless the lab's charts install
// them, custom resources and the controller's account with its permissions.
//
// It promises that running it again changes nothing, so that a lab which starts again in its directory
// keeps what its users made, and that it repairs what belongs to the lab. Package machine makes the
// nodes.
package bootstrap

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/crds"
	"github.com/daemok/daemok/lab/await"
)

// owner is the field manager of the objects put here.
const owner = "daemok-lab"

//go:embed objects/*.yaml
var objects embed.FS

var customResources = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// Metrics is where usage of nodes and pods is served.
type Metrics struct {
	Port     int    // on the loopback address, TLS for the name of its service
	CABundle []byte // authority of its certificate, PEM
}

// Options are what differs between labs.
type Options struct {
	Admin    *rest.Config
	Metrics  Metrics
	Identity Identity
	Product  []byte // manifests of the controller's rights; nil: neither these nor custom resources, which its charts bring
}

// Apply puts everything in place and returns when custom resources, where it brings them, are served.
func Apply(ctx context.Context, o Options) error {
	c, err := client.New(o.Admin, client.Options{})
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	watcher, err := dynamic.NewForConfig(o.Admin)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	if o.Product != nil {
		group.Go(func() error { return applyCustomResources(ctx, c, watcher) })
	}
	group.Go(func() error { return applyObjects(ctx, c, o) })
	return group.Wait()
}

func applyCustomResources(ctx context.Context, c client.Client, watcher dynamic.Interface) error {
	wanted, err := read(crds.FS)
	if err != nil {
		return err
	}
	for _, crd := range wanted {
		if err := apply(ctx, c, crd); err != nil {
			return err
		}
	}
	err = await.Until(ctx, watcher.Resource(customResources), metav1.ListOptions{}, established(wanted))
	if err != nil {
		return fmt.Errorf("wait for custom resources to be served: %w", err)
	}
	return nil
}

// established holds when all wanted custom resources are served.
func established(wanted []*unstructured.Unstructured) await.Condition {
	return func(seen []*unstructured.Unstructured) (bool, error) {
		served := map[string]bool{}
		for _, crd := range seen {
			served[crd.GetName()] = hasCondition(crd, "Established")
		}
		for _, crd := range wanted {
			if !served[crd.GetName()] {
				return false, nil
			}
		}
		return true, nil
	}
}

func hasCondition(o *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind && c["status"] == "True" {
			return true
		}
	}
	return false
}

func applyObjects(ctx context.Context, c client.Client, o Options) error {
	wanted, err := read(objects)
	if err != nil {
		return err
	}
	rights, err := decode(o.Product)
	if err != nil {
		return fmt.Errorf("read the controller's rights: %w", err)
	}
	wanted = append(wanted, rights...)
	wanted = append(wanted, identityObject(o.Identity))
	for _, object := range append(wanted, metricsObjects(o.Metrics)...) {
		if err := apply(ctx, c, object); err != nil {
			return err
		}
	}
	return nil
}

// apply makes the object as wanted, whatever it was before. A StorageClass cannot be changed: one that a user made under its name stays.
func apply(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(owner), client.ForceOwnership)
	if apierrors.IsInvalid(err) && object.GetKind() == "StorageClass" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// read decodes all manifests of an embedded folder, in the order of file names.
func read(files embed.FS) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		decoded, err := decode(content)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		all = append(all, decoded...)
		return nil
	})
	return all, err
}

func decode(content []byte) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var object unstructured.Unstructured
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			all = append(all, &object)
		}
	}
}
