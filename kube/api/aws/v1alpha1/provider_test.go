package v1alpha1_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/daemok/daemok/kube/api/aws/v1alpha1"
)

// TestTextKeepsHowItWasWritten: a user's object is written back as it was, and
// means the same with quotes and without.
func TestTextKeepsHowItWasWritten(t *testing.T) {
	tests := map[string]struct {
		written string
		want    v1alpha1.Text
	}{
		"a text":                {`"web"`, v1alpha1.Text{Value: "web"}},
		"a number":              {`42`, v1alpha1.Text{Value: "42", Bare: true}},
		"an account":            {`123456789012`, v1alpha1.Text{Value: "123456789012", Bare: true}},
		"a number in quotes":    {`"42"`, v1alpha1.Text{Value: "42"}},
		"a truth value":         {`true`, v1alpha1.Text{Value: "true", Bare: true}},
		"nothing":               {`""`, v1alpha1.Text{}},
		"a text with backslash": {`"a\\b"`, v1alpha1.Text{Value: `a\b`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got v1alpha1.Text
			if err := json.Unmarshal([]byte(tt.written), &got); err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("%s was read as %+v, want %+v", tt.written, got, tt.want)
			}
			if again, err := json.Marshal(got); err != nil || string(again) != tt.written {
				t.Errorf("written again %s (%v), want %s", again, err, tt.written)
			}
		})
	}
}

func TestProviderKnowsItsFields(t *testing.T) {
	want := []string{
		"amiFamily", "apiVersion", "blockDeviceMappings", "context", "instanceProfile", "kind", "launchTemplate",
		"metadataOptions", "securityGroupSelector", "subnetSelector", "tags",
	}
	if got := v1alpha1.ProviderFields(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestProviderCopiesShareNothing(t *testing.T) {
	var p v1alpha1.Provider
	if err := json.Unmarshal([]byte(`{"subnetSelector":{"a":"b"},"colour":"red"}`), &p); err != nil {
		t.Fatal(err)
	}
	twin := p.DeepCopy()
	delete(twin.Further, "colour")
	delete(twin.SubnetSelector, "a")
	if len(p.Further) != 1 || len(p.SubnetSelector) != 1 {
		t.Errorf("the original is %+v after its copy was changed", p)
	}
}

// TestReadyDependsOn: a launch template of the user's own brings the rest with
// it.
func TestReadyDependsOn(t *testing.T) {
	var own, plain v1alpha1.AWSNodeTemplate
	name := "mine"
	own.Spec.LaunchTemplate = &name
	if got, want := own.ReadyDependsOn(), []string{"SubnetsReady", "ValidationSucceeded"}; !slices.Equal(got, want) {
		t.Errorf("with a launch template Ready depends on %q, want %q", got, want)
	}
	want := []string{"AMIsReady", "SubnetsReady", "SecurityGroupsReady", "InstanceProfileReady", "ValidationSucceeded"}
	if got := plain.ReadyDependsOn(); !slices.Equal(got, want) {
		t.Errorf("without a launch template Ready depends on %q, want %q", got, want)
	}
}
