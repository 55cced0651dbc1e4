package store

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// fieldsOf are the fields that objects may be selected by.
func fieldsOf(o client.Object) map[string]string {
	switch o := o.(type) {
	case *corev1.Pod:
		return map[string]string{"spec.nodeName": o.Spec.NodeName}
	case *corev1.Node:
		return map[string]string{"spec.providerID": o.Spec.ProviderID}
	case *karpv1.NodeClaim:
		fields := map[string]string{"status.providerID": o.Status.ProviderID, "status.conditions.registered.reason": ""}
		if registered := condition.Get(o, karpv1.ClaimRegistered); registered != nil {
			fields["status.conditions.registered.reason"] = registered.Reason
		}
		return fields
	}
	return nil
}

// fill puts copies of the objects that the options select into a list.
func fill(list client.ObjectList, objects []client.Object, options []client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	var out []runtime.Object
	for _, o := range objects {
		chosen, err := selects(asked, o)
		if err != nil {
			return err
		}
		if chosen {
			out = append(out, o.DeepCopyObject())
		}
	}
	if metadata, asked := list.(*metav1.PartialObjectMetadataList); asked {
		metadata.Items = metadataOf(out)
		return nil
	}
	return apimeta.SetList(list, out)
}

// metadataOf is what a list of metadata alone shows of objects.
func metadataOf(objects []runtime.Object) []metav1.PartialObjectMetadata {
	out := make([]metav1.PartialObjectMetadata, len(objects))
	for i, o := range objects {
		if object, ok := o.(metav1.ObjectMetaAccessor); ok {
			out[i].ObjectMeta = *object.GetObjectMeta().(*metav1.ObjectMeta)
		}
	}
	return out
}

func selects(asked client.ListOptions, o client.Object) (bool, error) {
	if asked.Namespace != "" && asked.Namespace != o.GetNamespace() {
		return false, nil
	}
	if asked.LabelSelector != nil && !asked.LabelSelector.Matches(labels.Set(o.GetLabels())) {
		return false, nil
	}
	if asked.FieldSelector == nil {
		return true, nil
	}
	have := fieldsOf(o)
	for _, r := range asked.FieldSelector.Requirements() {
		value, indexed := have[r.Field]
		if !indexed {
			return false, fmt.Errorf("field %s of %T is not indexed", r.Field, o)
		}
		if value != r.Value {
			return false, nil
		}
	}
	return true, nil
}
