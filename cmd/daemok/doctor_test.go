package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/doctor"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
)

// diagnosed is what daemok doctor prints of a cluster in an account of the emulator.
func diagnosed(t *testing.T, objects ...client.Object) (findings []doctor.Finding, err error) {
	t.Helper()
	prodAccount(t)
	cmd := doctorCommand(surroundings{clusterOf(t, objects...), func(*target) (string, error) { return "1.36", nil }, market})
	var out bytes.Buffer
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"-o", "json"})
	err = cmd.ExecuteContext(t.Context())
	if failed := json.Unmarshal(out.Bytes(), &findings); failed != nil {
		t.Fatalf("%v, and no JSON: %v\n%s", err, failed, &out)
	}
	return findings, err
}

// The account has what the guides make, and the cluster no definitions: that alone is an
// error, and what is in order is said too.
func TestDoctorLooksAtClusterAndAccount(t *testing.T) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter"}}
	class := nodeClass("default", func(s *awsv1.EC2NodeClassSpec) {
		s.Role = "KarpenterNodeRole-prod"
		s.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
		s.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "prod"}}}
		s.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "prod"}}}
	})
	findings, err := diagnosed(t, installed("INTERRUPTION_QUEUE=prod"), account, class)
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != doctorErrs {
		t.Errorf("it ends with %v, want exit code %d", err, doctorErrs)
	}
	said := map[string][]string{}
	for _, f := range findings {
		said[f.Check] = append(said[f.Check], string(f.Severity)+" "+f.Object+" "+f.Message)
	}
	for check, want := range map[string]string{
		"kubernetes": "ok  Kubernetes 1.36", "definitions": "error CustomResourceDefinition/nodepools.karpenter.sh it is missing", "eks": "ok  prod, Kubernetes 1.36",
		"credentials": "warning ServiceAccount/kube-system/karpenter it has no role", "node classes": "ok EC2NodeClass/default", "node roles": "ok  role KarpenterNodeRole-prod has an access entry of type EC2_LINUX",
		"interruption queue": "ok  queue prod gets all events", "rights": "role arn:aws:iam::",
	} {
		if got := strings.Join(said[check], "\n"); !strings.Contains(got, want) {
			t.Errorf("of %s it says\n%s\nwant %s", check, got, want)
		}
	}
}
