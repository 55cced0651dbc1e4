package admissiontest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/daemok/daemok/kube/api/admissiontest"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	autoscalingv1alpha1 "github.com/daemok/daemok/kube/api/autoscaling/v1alpha1"
	autoscalingv1beta1 "github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	daemokv1alpha1 "github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
)

// TestWhatIsAcceptedCanBeRead: one stored object that Go cannot read would keep
// all others of its kind from being seen.
func TestWhatIsAcceptedCanBeRead(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		karpv1.AddToScheme, v1alpha1.AddToScheme, awsv1.AddToScheme, autoscalingv1.AddToScheme,
		autoscalingv1beta1.AddToScheme,
		autoscalingv1alpha1.AddToScheme, daemokv1alpha1.AddToScheme, v1alpha5.AddToScheme, awsv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	gate := gateOfAll(t)
	for _, c := range acceptedCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			stored, err := gate.Create(c.Object.Object)
			if err != nil {
				t.Fatal(err)
			}
			into, err := scheme.New(c.Object.GroupVersionKind())
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(asJSON(t, stored), into); err != nil {
				t.Fatalf("stored as %s: %v", asJSON(t, stored), err)
			}
		})
	}
}

// TestGuidesAreNotRefused: what guides of the v1alpha5 API show is not
// refused at run time either.
func TestGuidesAreNotRefused(t *testing.T) {
	reported := 0
	for _, c := range acceptedCases(t) {
		if !older(c) || !strings.Contains(c.Name, "as_in_guides") {
			continue
		}
		reported++
		t.Run(c.Name, func(t *testing.T) {
			if text := validate.Refusal(findings(t, c)); text != "" {
				t.Errorf("refused: %s", text)
			}
		})
	}
	if reported == 0 {
		t.Error("there are no guides of the older generation")
	}
}

func findings(t *testing.T, c admissiontest.Case) []validate.Finding {
	t.Helper()
	if c.Object.GetKind() == awsv1alpha1.Kind {
		o := new(awsv1alpha1.AWSNodeTemplate)
		if err := json.Unmarshal(asJSON(t, c.Object.Object), o); err != nil {
			t.Fatal(err)
		}
		return validate.AWSNodeTemplate(o)
	}
	o := new(v1alpha5.Provisioner)
	if err := json.Unmarshal(asJSON(t, c.Object.Object), o); err != nil {
		t.Fatal(err)
	}
	return validate.Provisioner(o)
}

func older(c admissiontest.Case) bool {
	return c.Object.GetKind() == "Provisioner" || c.Object.GetKind() == awsv1alpha1.Kind
}

func acceptedCases(t *testing.T) []admissiontest.Case {
	t.Helper()
	cases, err := admissiontest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	var accepted []admissiontest.Case
	for _, c := range cases {
		if c.Refused == "" {
			accepted = append(accepted, c)
		}
	}
	return accepted
}

func asJSON(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
