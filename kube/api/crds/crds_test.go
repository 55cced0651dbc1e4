package crds_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/daemok/daemok/kube/api/crds"
)

// TestHowDefinitionsAreServed: scope, names, subresources and columns are what
// users' scripts and dashboards rely on.
func TestHowDefinitionsAreServed(t *testing.T) {
	want := map[string]string{
		"nodepools.karpenter.sh": "Cluster v1 names= categories=karpenter status=true scale=.spec.replicas/.status.nodes" +
			" columns=NodeClass,Nodes,Ready,Age,Weight*,CPU*,Memory*",
		"nodeclaims.karpenter.sh": "Cluster v1 names= categories=karpenter status=true scale=" +
			" columns=Type,Capacity,Zone,Node,Ready,Age,ImageID*,ID*,NodePool*,NodeClass*,Drifted*",
		"nodeoverlays.karpenter.sh": "Cluster v1alpha1 names=overlays categories=karpenter status=true scale=" +
			" columns=Ready,Age,Weight*",
		"ec2nodeclasses.karpenter.k8s.aws": "Cluster v1 names=ec2nc,ec2ncs categories=karpenter status=true scale=" +
			" columns=Ready,Age,Role*",
		"provisioners.karpenter.sh": "Cluster v1alpha5 names= categories=karpenter status=true scale=" +
			" columns=Age,Ready*,Template*,Nodes*,CPU*,Memory*,Weight*",
		"awsnodetemplates.karpenter.k8s.aws": "Cluster v1alpha1 names= categories=karpenter status=true scale=" +
			" columns=Age,Ready*,Family*",
		"disruptionpolicies.daemok.sh": "Cluster v1alpha1 names= categories=daemok status=true scale=" +
			" columns=Ready,Allowed,Opens,Tripped,Age",
		"capacityquotas.autoscaling.x-k8s.io": "Cluster v1beta1 names=cq categories=autoscaling status=true scale=" +
			" columns=Limits,Used,Age",
		"capacitybuffers.autoscaling.x-k8s.io": "Namespaced v1beta1 names=cb categories=autoscaling status=true scale=" +
			" columns=Strategy,PodTemplate,Replicas,ConditionsType,ConditionsStatus,ConditionsReason,Age",
		"provisioningrequests.autoscaling.x-k8s.io": "Namespaced v1 names=provreq,provreqs categories=autoscaling" +
			" status=true scale= columns=Class,Accepted,Provisioned,Failed,Age",
	}
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if got := served(d); got != want[d.Name] {
			t.Errorf("%s\n got %s\nwant %s", d.Name, got, want[d.Name])
		}
		delete(want, d.Name)
	}
	for name := range want {
		t.Errorf("no definition of %s", name)
	}
}

func served(d *apiextensionsv1.CustomResourceDefinition) string {
	v := d.Spec.Versions[0]
	scale := ""
	if s := v.Subresources.Scale; s != nil {
		scale = s.SpecReplicasPath + "/" + s.StatusReplicasPath
	}
	var columns []string
	for _, c := range v.AdditionalPrinterColumns {
		columns = append(columns, c.Name+strings.Repeat("*", int(c.Priority)))
	}
	return fmt.Sprintf("%s %s names=%s categories=%s status=%v scale=%s columns=%s", d.Spec.Scope, v.Name,
		strings.Join(d.Spec.Names.ShortNames, ","), strings.Join(d.Spec.Names.Categories, ","),
		v.Subresources.Status != nil, scale, strings.Join(columns, ","))
}

// TestVersionsHaveTheSameFields: an API server converts them by changing apiVersion alone.
func TestVersionsHaveTheSameFields(t *testing.T) {
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	for _, d := range all {
		if d.Spec.Conversion != nil && d.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
			t.Errorf("%s is converted by %s", d.Name, d.Spec.Conversion.Strategy)
		}
		for i, v := range d.Spec.Versions {
			if v.Storage != (i == 0) || !v.Served {
				t.Errorf("%s %s is stored: %t, and served: %t; want the first to be stored, and all to be served", d.Name, v.Name, v.Storage, v.Served)
			}
			if !reflect.DeepEqual(v.Schema, d.Spec.Versions[0].Schema) {
				t.Errorf("%s %s has other fields than %s", d.Name, v.Name, d.Spec.Versions[0].Name)
			}
			others += min(i, 1)
		}
	}
	if others == 0 {
		t.Error("no definition has two versions")
	}
}

// TestEveryFieldIsExplained: kubectl explain has a sentence for every field
// of a spec.
func TestEveryFieldIsExplained(t *testing.T) {
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		for _, path := range unexplained(d.Spec.Names.Kind+".spec", spec) {
			t.Errorf("%s has no description", path)
		}
	}
}

func unexplained(path string, schema apiextensionsv1.JSONSchemaProps) []string {
	var paths []string
	for name, field := range schema.Properties {
		if field.Description == "" {
			paths = append(paths, path+"."+name)
		}
		paths = append(paths, unexplained(path+"."+name, field)...)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		paths = append(paths, unexplained(path+"[]", *schema.Items.Schema)...)
	}
	slices.Sort(paths)
	return paths
}
