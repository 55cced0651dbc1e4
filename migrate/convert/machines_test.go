package convert

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	kinds "github.com/daemok/daemok/controller/class"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
)

// stored is a Provisioner and its template, as a reader of a cluster that has no others.
type stored struct {
	p *v1alpha5.Provisioner
	t *awsv1alpha1.AWSNodeTemplate
}

func (s stored) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *v1alpha5.Provisioner:
		*into = *s.p
	case *awsv1alpha1.AWSNodeTemplate:
		*into = *s.t
	}
	return nil
}

func (stored) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func decoded[T any](t *testing.T, manifest map[string]any) *T {
	t.Helper()
	data, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// makesTheSame holds what instances of the class are made from against what those of the
// Provisioner are.
func makesTheSame(t *testing.T, manifests []map[string]any, r *Result) {
	t.Helper()
	s := stored{p: decoded[v1alpha5.Provisioner](t, manifests[0])}
	if len(manifests) > 1 {
		s.t = decoded[awsv1alpha1.AWSNodeTemplate](t, manifests[1])
	}
	kind := kinds.Provisioners(&kinds.Account{})
	kind.Learn("1.27")
	older, err := kind.ByName(t.Context(), s, "p")
	if err != nil {
		t.Fatal(err)
	}
	newer := kinds.NodeClasses("", validate.ClassOptions{})
	was, is := older.Spec, newer.Of(r.Objects[0].(*awsv1.EC2NodeClass)).Spec
	reported := func(field string) bool {
		return slices.ContainsFunc(r.Report, func(e Entry) bool {
			return slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Weight != Maps && strings.Contains(f.Field, field) })
		})
	}

	if was.Family == nodeclass.Ubuntu {
		was.Family = nodeclass.AL2
		if len(was.Images) == 1 && was.Images[0].Alias != "" {
			was.Images, is.Images = nil, nil // by parameters now: the report says so
		}
	}
	was.ImageTagsAsked, was.OlderLabels = false, false // the report says so, and pools have no such labels
	was.BlockDevices, is.BlockDevices = older.Spec.Volumes(), is.Volumes()
	for i := range is.BlockDevices {
		is.BlockDevices[i].Root = false // it marks what the family keeps its files on
	}
	if reported("blockDeviceMappings[") {
		was.BlockDevices, is.BlockDevices = nil, nil
	}
	if reported("kubeletConfiguration.") {
		was.Kubelet, is.Kubelet = nodeclass.Kubelet{}, nodeclass.Kubelet{}
	}
	was.Kubelet.Raw, is.Kubelet.Raw = nil, nil
	if was.InstanceProfile == "" {
		is.Role = "" // given by --role
	}
	for key := range was.Tags {
		if reported("tags[" + key + "]") {
			delete(was.Tags, key)
		}
	}
	for key, text := range was.Tags {
		if is.Tags[key] != text {
			t.Errorf("tag %s was %q and is %q", key, text, is.Tags[key])
		}
	}
	was.Tags, is.Tags = nil, nil
	was.Subnets = apart(was.Subnets, func(s nodeclass.SubnetTerm) (string, map[string]string) { return s.ID, s.Tags },
		func(s nodeclass.SubnetTerm, tags map[string]string) nodeclass.SubnetTerm {
			return nodeclass.SubnetTerm{ID: s.ID, Tags: tags}
		})
	was.Groups = apart(was.Groups, func(s nodeclass.GroupTerm) (string, map[string]string) { return s.ID, s.Tags },
		func(s nodeclass.GroupTerm, tags map[string]string) nodeclass.GroupTerm {
			return nodeclass.GroupTerm{ID: s.ID, Tags: tags}
		})
	was.Images = apart(was.Images, func(s nodeclass.ImageTerm) (string, map[string]string) { return s.ID, s.Tags }, func(s nodeclass.ImageTerm, tags map[string]string) nodeclass.ImageTerm {
		if s.Tags, s.Commas = tags, false; s.Owner != "" && s.Name == "" && tags == nil {
			s.Name = "*"
		}
		return s
	})
	if !sameTerms(was.Subnets, is.Subnets) || !sameTerms(was.Groups, is.Groups) || !sameTerms(was.Images, is.Images) {
		t.Errorf("it selects %v\n%v\n%v\nand of a Provisioner it did\n%v\n%v\n%v", is.Subnets, is.Groups, is.Images, was.Subnets, was.Groups, was.Images)
	}
	was.Subnets, is.Subnets, was.Groups, is.Groups, was.Images, is.Images = nil, nil, nil, nil, nil, nil
	was.Family, is.Family = was.EffectiveFamily(), is.EffectiveFamily()
	if !reflect.DeepEqual(was, is) {
		t.Errorf("machines are made from\n%+v\nand those of the Provisioner are from\n%+v", is, was)
	}
}

// apart is a term for each combination of what stands between commas; tags say nothing
// beside an ID.
func apart[T any](terms []T, of func(T) (id string, tags map[string]string), with func(T, map[string]string) T) []T {
	var out []T
	for _, term := range terms {
		id, tags := of(term)
		if id != "" || len(tags) == 0 {
			out = append(out, with(term, nil))
			continue
		}
		for _, one := range products(tags) {
			out = append(out, with(term, one))
		}
	}
	return out
}

// sameTerms reports whether both are the same, in whatever order.
func sameTerms[T any](a, b []T) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x T) bool {
		return !slices.ContainsFunc(b, func(y T) bool { return reflect.DeepEqual(x, y) })
	})
}
