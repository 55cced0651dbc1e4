package examples_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/examples"
)

func TestManifest(t *testing.T) {
	for _, name := range []string{"v1/ec2nodeclass.yaml", "v1/nodepool.yaml", "v1/nodepool-costs.yaml", "v1/inflate.yaml"} {
		t.Run(name, func(t *testing.T) {
			content, err := examples.Manifest(name, "blue")
			if err != nil {
				t.Fatal(err)
			}
			var object map[string]any
			if err := yaml.UnmarshalStrict(content, &object); err != nil {
				t.Fatal(err)
			}
			if object["kind"] == nil || object["apiVersion"] == nil {
				t.Errorf("%s has no kind or apiVersion", name)
			}
			if strings.Contains(string(content[strings.Index(string(content), "spec:"):]), "${") {
				t.Errorf("%s has a variable that is not filled in:\n%s", name, content)
			}
		})
	}
}

func TestManifestNamesTheCluster(t *testing.T) {
	content, err := examples.Manifest("v1/ec2nodeclass.yaml", "blue")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), "role: KarpenterNodeRole-blue") {
		t.Errorf("the role does not name the cluster:\n%s", content)
	}
}

func TestManifestOfNoExample(t *testing.T) {
	if _, err := examples.Manifest("v1/nothing.yaml", "blue"); err == nil {
		t.Error("Manifest of a file that does not exist gives no error")
	}
}
