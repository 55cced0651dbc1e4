// Package definitions compares the CustomResourceDefinitions of a cluster with those of this build.
//
// It promises that the controller and `daemok doctor` share one comparison, and that it names every
// field of this build which the API server would drop. It installs and changes nothing.
package definitions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/internal/brief"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// needed are the kinds without which the controller does not start, by the names of their definitions.
func needed() map[string]schema.GroupVersionKind {
	return map[string]schema.GroupVersionKind{
		"nodepools.karpenter.sh":           karpv1.GroupVersion.WithKind("NodePool"),
		claims:                             karpv1.GroupVersion.WithKind("NodeClaim"),
		"ec2nodeclasses.karpenter.k8s.aws": awsv1.GroupVersion.WithKind("EC2NodeClass"),
	}
}

// Needed reports whether the controller does not start without the definition of that name.
func Needed(name string) bool { _, is := needed()[name]; return is }

// MissingError says which definitions the controller waits for.
type MissingError struct{ Names []string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the API server does not serve the newest version of %s: install the definitions of this release: %s",
		strings.Join(e.Names, ", "), Difference{}.WayOut())
}

// Served returns a *MissingError where the API server does not serve the kinds that the controller needs, in the
// versions that it reads. Any account may ask.
func Served(kinds apimeta.RESTMapper) error {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(needed())) {
		kind := needed()[name]
		switch _, err := kinds.RESTMapping(kind.GroupKind(), kind.Version); {
		case apimeta.IsNoMatchError(err):
			missing = append(missing, name)
		case err != nil:
			return fmt.Errorf("see whether the API server serves %s: %w", name, err)
		}
	}
	if len(missing) > 0 {
		return &MissingError{missing}
	}
	return nil
}

// claims is the definition of NodeClaims.
const claims = "nodeclaims.karpenter.sh"

// ClaimsGo reports whether the definition of NodeClaims is being deleted: Kubernetes then deletes all NodeClaims. Where
// there is no definition, or it may not be read, it reports false.
func ClaimsGo(ctx context.Context, from client.Reader) (bool, error) {
	there := &apiextensionsv1.CustomResourceDefinition{}
	err := from.Get(ctx, client.ObjectKey{Name: claims}, there)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("see whether CustomResourceDefinition %s is being deleted: %w", claims, err)
	}
	return there.DeletionTimestamp != nil, nil
}

// Difference is how a cluster's definition differs from that of this build.
type Difference struct {
	Name     string
	Missing  bool     // the cluster has none
	Going    bool     // it is being deleted, and all objects of its kind with it
	Strange  []string // versions in which objects may be stored, and which this build does not know
	Unserved []string // versions of this build that the cluster does not serve
	Unknown  []string // fields of this build that the API server drops, as VERSION: spec.field, sorted
	Later    []string // fields of the cluster that this build does not know, as VERSION: spec.field, sorted
	Other    []string // versions whose schemas differ, whether in fields or not

	Release, Namespace string // the Helm release that has it in its books; empty: none
}

// Same reports whether nothing differs.
func (d Difference) Same() bool {
	return !d.Missing && !d.Going && len(d.Strange)+len(d.Unserved)+len(d.Unknown)+len(d.Other) == 0
}

// OfLaterRelease reports whether the definition has all fields of this build, and more: a later release wrote it, as is
// the case between the upgrade of the definitions and that of the controller, and after a rollback of the
// controller alone.
func (d Difference) OfLaterRelease() bool {
	return !d.Missing && !d.Going && len(d.Strange)+len(d.Unserved)+len(d.Unknown) == 0 && len(d.Later) > 0
}

// WayOut is the command that brings the definition up to date, in the Helm release that has it.
func (d Difference) WayOut() string {
	release, namespace := "daemok-crd", "kube-system"
	if d.Release != "" {
		release, namespace = d.Release, d.Namespace
	}
	return fmt.Sprintf("helm upgrade --install %s charts/daemok-crd --namespace %s --take-ownership", release, namespace)
}

// fieldsNamed is how many fields a sentence names.
const fieldsNamed = 12

// Fields names fields in a sentence, the first of them where there are many.
func Fields(all []string) string { return brief.List(all, fieldsNamed) }

// Read compares the definitions of a cluster with ours, in the order of ours.
func Read(ctx context.Context, from client.Reader, ours []*apiextensionsv1.CustomResourceDefinition) ([]Difference, error) {
	var out []Difference
	for _, o := range ours {
		there := &apiextensionsv1.CustomResourceDefinition{}
		err := from.Get(ctx, client.ObjectKeyFromObject(o), there)
		switch {
		case apierrors.IsNotFound(err):
			out = append(out, Difference{Name: o.Name, Missing: true})
		case err != nil:
			return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", o.Name, err)
		default:
			out = append(out, Compare(o, there))
		}
	}
	return out, nil
}

// Compare compares a definition of a cluster with that of this build.
func Compare(ours, there *apiextensionsv1.CustomResourceDefinition) Difference {
	d := Difference{
		Name: ours.Name, Going: there.DeletionTimestamp != nil, Release: there.Annotations["meta.helm.sh/release-name"], Namespace: there.Annotations["meta.helm.sh/release-namespace"],
	}
	for _, stored := range there.Status.StoredVersions {
		if !slices.ContainsFunc(ours.Spec.Versions, named(stored)) {
			d.Strange = append(d.Strange, stored)
		}
	}
	for _, v := range ours.Spec.Versions {
		at := slices.IndexFunc(there.Spec.Versions, named(v.Name))
		if at < 0 || !there.Spec.Versions[at].Served {
			d.Unserved = append(d.Unserved, v.Name)
			continue
		}
		has := there.Spec.Versions[at].Schema
		if sameSchema(v.Schema, has) {
			continue
		}
		d.Other = append(d.Other, v.Name)
		if has != nil && has.OpenAPIV3Schema != nil {
			d.Unknown = append(d.Unknown, lacking(v.Schema.OpenAPIV3Schema, has.OpenAPIV3Schema, v.Name+": ")...)
			d.Later = append(d.Later, lacking(has.OpenAPIV3Schema, v.Schema.OpenAPIV3Schema, v.Name+": ")...)
		}
	}
	slices.Sort(d.Unknown)
	slices.Sort(d.Later)
	return d
}

func named(version string) func(apiextensionsv1.CustomResourceDefinitionVersion) bool {
	return func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version }
}

// lacking are the fields of one schema that another drops, the outermost of each, behind the words of at.
func lacking(ours, there *apiextensionsv1.JSONSchemaProps, at string) (out []string) {
	if there.XPreserveUnknownFields != nil && *there.XPreserveUnknownFields {
		return nil
	}
	for name := range ours.Properties {
		below, field := ours.Properties[name], at+name
		has, known := there.Properties[name]
		if !known {
			out = append(out, field)
			continue
		}
		out = append(out, lacking(&below, &has, field+".")...)
	}
	if ours.Items != nil && ours.Items.Schema != nil && there.Items != nil && there.Items.Schema != nil {
		out = append(out, lacking(ours.Items.Schema, there.Items.Schema, strings.TrimSuffix(at, ".")+"[].")...)
	}
	if ours.AdditionalProperties != nil && ours.AdditionalProperties.Schema != nil && there.AdditionalProperties != nil && there.AdditionalProperties.Schema != nil {
		out = append(out, lacking(ours.AdditionalProperties.Schema, there.AdditionalProperties.Schema, strings.TrimSuffix(at, ".")+"[key].")...)
	}
	return out
}

// sameSchema compares what two schemas say: one that an API server has stored and one from a file write some
// of it differently.
func sameSchema(a, b *apiextensionsv1.CustomResourceValidation) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	var values [2]any
	for i, s := range []*apiextensionsv1.CustomResourceValidation{a, b} {
		text, err := json.Marshal(s)
		if err != nil || json.Unmarshal(text, &values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}
