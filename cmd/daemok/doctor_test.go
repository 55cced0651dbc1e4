package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/doctor"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

// diagnosed is what daemok doctor prints of a cluster in an account of the emulator.
func diagnosed(t *testing.T, objects ...client.Object) (findings []doctor.Finding, err error) {
	t.Helper()
	prodAccount(t)
	return examinedBy(t, clusterOf(t, objects...))
}

// examinedBy is what daemok doctor prints of the cluster behind a connector.
func examinedBy(t *testing.T, open inspect.Connector) (findings []doctor.Finding, err error) {
	t.Helper()
	cmd := doctorCommand(surroundings{open: open, version: func(*inspect.Target) (string, error) { return "1.36", nil }, market: inspect.Market})
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
	findings, err := diagnosed(t, commandtest.Installed("INTERRUPTION_QUEUE=prod"), account, class)
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

// Before anything is installed there are no classes and no pools. The account is examined all the same.
func TestDoctorLooksAtTheAccountBeforeTheDefinitionsAreInstalled(t *testing.T) {
	prodAccount(t)
	t.Setenv("CLUSTER_NAME", "prod")
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	undefined := func(ctx context.Context, store client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		switch list.(type) {
		case *awsv1.EC2NodeClassList, *karpv1.NodePoolList:
			return fmt.Errorf("list: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "karpenter.sh", Kind: "NodePool"}})
		}
		return store.List(ctx, list, options...)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(meta.NewDefaultRESTMapper(nil)).WithInterceptorFuncs(interceptor.Funcs{List: undefined}).Build()
	findings, _ := examinedBy(t, func(*inspect.Target) (client.Client, error) { return store, nil })
	ofClasses := ""
	for _, f := range findings {
		if f.Check == "node classes" {
			ofClasses += f.Message
		}
		if f.Severity == doctor.Unknown && strings.Contains(f.Message, "it could not be checked") {
			t.Errorf("of %s it says: %s", f.Check, f.Message)
		}
	}
	if want := "there is no EC2NodeClass, so nothing can be launched"; ofClasses != want {
		t.Errorf("of node classes it says %q, want %q", ofClasses, want)
	}
}

// Nodes of an AWSNodeTemplate that names no instance profile have that of the settings, and what
// Provisioners allow counts as what NodePools do.
func TestDoctorKnowsTheSettingsOfProvisioners(t *testing.T) {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter-global-settings"},
		Data: map[string]string{"aws.defaultInstanceProfile": "KarpenterNodeInstanceProfile-prod"}}
	template := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	template.Spec.SubnetSelector = awsv1alpha1.Selector{"karpenter.sh/discovery": {Value: "prod"}}
	template.Spec.SecurityGroupSelector = awsv1alpha1.Selector{"karpenter.sh/discovery": {Value: "prod"}}
	provisioner := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	provisioner.Spec.ProviderRef = &v1alpha5.ProviderReference{Name: "default"}
	provisioner.Spec.Requirements = []v1alpha5.Requirement{{Key: "karpenter.sh/capacity-type", Operator: "In", Values: []string{"spot"}}}
	findings, _ := diagnosed(t, commandtest.Installed("INTERRUPTION_QUEUE=prod"), settings, template, provisioner)
	said := map[string]string{}
	for _, f := range findings {
		said[f.Check] += fmt.Sprintf("%s %s: %s\n", f.Severity, f.Object, f.Message)
	}
	for check, want := range map[string]string{
		"node roles": "ok : role KarpenterNodeRole-prod has an access entry", "spot": "AWSServiceRoleForEC2Spot",
	} {
		if !strings.Contains(said[check], want) || check == "node roles" && strings.Contains(said[check], "error") {
			t.Errorf("of %s it says\n%swant %s", check, said[check], want)
		}
	}
}

// A class whose instance profile is gone keeps nothing else from being examined.
func TestDoctorGoesOnWhereAnInstanceProfileIsGone(t *testing.T) {
	class := nodeClass("web", func(s *awsv1.EC2NodeClassSpec) { s.InstanceProfile = new("gone") })
	findings, _ := diagnosed(t, commandtest.Installed("INTERRUPTION_QUEUE=prod"), class)
	said := map[string]string{}
	for _, f := range findings {
		said[f.Check] += fmt.Sprintf("%s %s: %s\n", f.Severity, f.Object, f.Message)
	}
	for check, want := range map[string]string{
		"eks": "ok : prod", "interruption queue": "ok : queue prod", "node roles": "error EC2NodeClass/web: its instance profile gone has no role, or does not exist",
		"rights": "unknown : it could not be checked: find the role in instance profile gone",
	} {
		if !strings.HasPrefix(said[check], want) {
			t.Errorf("of %s it says\n%swant %s", check, said[check], want)
		}
	}
}

// An API server that does not answer is what is wrong with the cluster, and scripts read it as anything else.
func TestDoctorSaysThatTheAPIServerDoesNotAnswer(t *testing.T) {
	refused := func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errors.New("dial tcp 127.0.0.1:1: connect: connection refused")
	}
	store := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{List: refused}).Build()
	findings, err := examinedBy(t, func(*inspect.Target) (client.Client, error) { return store, nil })
	if len(findings) != 1 || findings[0].Check != "kubernetes" || findings[0].Severity != doctor.Error || !strings.Contains(findings[0].Message, "connection refused") || !strings.Contains(findings[0].WayOut, "--context") {
		t.Errorf("it finds %+v", findings)
	}
	if exit := (*exitError)(nil); !errors.As(err, &exit) || exit.code != doctorErrs {
		t.Errorf("it ends with %v, want exit code %d", err, doctorErrs)
	}
}

// What could not be examined may be wrong: a script that goes on where the doctor is content does not.
func TestDoctorIsNotContentWithWhatItCouldNotSee(t *testing.T) {
	unseen := []doctor.Finding{{Severity: doctor.OK}, {Severity: doctor.Unknown}, {Severity: doctor.Unknown}}
	if exit := (*exitError)(nil); !errors.As(verdict(unseen), &exit) || exit.code != doctorWarns || exit.Error() != "2 things could not be checked" {
		t.Errorf("it ends with %v, want exit code %d", exit, doctorWarns)
	}
	if err := verdict(unseen[:1]); err != nil {
		t.Errorf("where nothing is wrong it ends with %v", err)
	}
}
