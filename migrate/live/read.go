// Package live reads the objects of older APIs in a cluster, for `daemok migrate`.
//
// It promises to change nothing in the cluster, and to return everything that uses an older API:
// pools, classes, settings, and workloads that users made themselves, without the controller.
package live

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/migrate/convert"
)

// kind is one that is searched for: by the first of these versions that is served.
type kind struct {
	group, name string
	versions    []string
}

// own are the kinds of pools and classes, in the order in which they are read.
var own = []kind{
	{api.GroupKarpenter, translate.KindProvisioner, []string{v1alpha5.GroupVersion.Version}},
	{api.GroupAWS, awsv1alpha1.Kind, []string{awsv1alpha1.GroupVersion.Version}},
	{api.GroupKarpenter, translate.KindNodePool, []string{karpv1.GroupVersion.Version, "v1beta1"}},
	{api.GroupAWS, "EC2NodeClass", []string{awsv1.GroupVersion.Version, "v1beta1"}},
}

// workloads are the lists of kinds that have pods.
var workloads = []func() client.ObjectList{
	func() client.ObjectList { return &appsv1.DeploymentList{} },
	func() client.ObjectList { return &appsv1.StatefulSetList{} },
	func() client.ObjectList { return &appsv1.DaemonSetList{} },
	func() client.ObjectList { return &appsv1.ReplicaSetList{} },
	func() client.ObjectList { return &batchv1.CronJobList{} },
	func() client.ObjectList { return &batchv1.JobList{} },
	func() client.ObjectList { return &corev1.PodList{} },
}

// Read reads a cluster, whose settings are in the namespace of the controller. Pools,
// classes and settings come before workloads, each kind by namespace and name.
func Read(ctx context.Context, from client.Client, namespace string) ([]convert.Document, error) {
	f := found{kinds: from.Scheme()}
	for _, k := range own {
		list, err := k.list(from)
		if err != nil {
			return nil, err
		}
		if list == nil {
			continue
		}
		if err := f.take(ctx, from, list, false); err != nil {
			return nil, err
		}
	}
	settings := &corev1.ConfigMap{}
	err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: api.ConfigMapSettings}, settings)
	switch {
	case err == nil:
		if err := f.add(settings); err != nil {
			return nil, err
		}
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, api.ConfigMapSettings, err)
	}
	for _, list := range workloads {
		if err := f.take(ctx, from, list, true); err != nil {
			return nil, err
		}
	}
	return f.documents, nil
}

// Older are the objects of a cluster that a move begins with, Provisioners first; none where these are not served.
func Older(ctx context.Context, from client.Client) (out []client.Object, err error) {
	served, err := provisioner.Served(from.RESTMapper())
	if err != nil || !served {
		return nil, err
	}
	err = pages.Each(ctx, from, &v1alpha5.ProvisionerList{}, func(l *v1alpha5.ProvisionerList) {
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	})
	if err != nil {
		return nil, err
	}
	return out, pages.Each(ctx, from, &awsv1alpha1.AWSNodeTemplateList{}, func(l *awsv1alpha1.AWSNodeTemplateList) {
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	})
}

// list makes lists of a kind as the cluster serves it; nil where it does not.
func (k kind) list(from client.Client) (func() client.ObjectList, error) {
	for _, version := range k.versions {
		gvk := schema.GroupVersionKind{Group: k.group, Version: version, Kind: k.name}
		_, err := from.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		if apimeta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("see whether the cluster has the kind %s: %w", k.name, err)
		}
		gvk.Kind += "List"
		if from.Scheme().Recognizes(gvk) {
			return func() client.ObjectList {
				list, _ := from.Scheme().New(gvk) // it is recognized
				return list.(client.ObjectList)
			}, nil
		}
		return func() client.ObjectList {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(gvk)
			return list
		}, nil
	}
	return nil, nil
}

// found is what was read so far.
type found struct {
	kinds     *runtime.Scheme
	documents []convert.Document
}

// take adds all objects of a kind; of one that has pods, those that no other object made.
func (f *found) take(ctx context.Context, from client.Client, list func() client.ObjectList, pods bool) error {
	var failed error
	err := pages.EachList(ctx, from, list, func(page client.ObjectList) {
		items := func(o runtime.Object) error {
			one := o.(client.Object)
			if metav1.GetControllerOf(one) != nil && pods || f.isMade(one) || isController(ctx, one) {
				return nil
			}
			return f.add(one)
		}
		if err := apimeta.EachListItem(page, items); err != nil && failed == nil {
			failed = err
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// isController reports whether an object is the Deployment of the controller itself: its chart writes the names of all API
// versions, so that its pods keep off nodes of pools of any.
func isController(ctx context.Context, o client.Object) bool {
	d, is := o.(*appsv1.Deployment)
	if !is {
		return false
	}
	_, is, err := installation.Read(ctx, nil, d)
	return is && err == nil
}

// isMade reports whether a pool or class was made of older ones that are still there.
func (f *found) isMade(o client.Object) bool {
	from := o.GetAnnotations()[api.AnnotationMigratedFrom]
	return from != "" && slices.ContainsFunc(f.documents, func(d convert.Document) bool { return d.APIVersion == from })
}

func (f *found) add(o client.Object) error {
	if o.GetObjectKind().GroupVersionKind().Empty() { // items of a list do not say it
		all, _, err := f.kinds.ObjectKinds(o)
		if err != nil {
			return err
		}
		o = o.DeepCopyObject().(client.Object)
		o.GetObjectKind().SetGroupVersionKind(all[0])
	}
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	d, err := convert.From(o.GetObjectKind().GroupVersionKind().Kind+" "+name, o)
	f.documents = append(f.documents, d)
	return err
}
