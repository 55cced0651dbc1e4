package main

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
)

// Where the settings of the controller may not be read, a plan is made with those of the environment, and a line beside it says so.
func TestSettingsThatAreNotKnownAreSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		secret    bool // the controller has settings from a Secret
		forbidden bool // Deployments may not be listed
		env       string
		want      string
	}{
		"all is known": {},
		"Deployments may not be listed": {forbidden: true, want: "The controller's settings are not known (list Deployments in namespace kube-system to find the controller's: deployments.apps is forbidden: no): " +
			"those of this environment are used, and defaults. Get the right to list deployments.apps in namespace kube-system, or set the variables that the controller has.\n"},
		"settings are in a Secret": {secret: true, want: "The controller may have FEATURE_GATES and other settings from Secret kube-system/settings, which is not read: defaults are used. " +
			"Set in this environment what it has there.\n"},
		"in a Secret, and in the environment": {secret: true, env: "NodeRepair=true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("FEATURE_GATES", tt.env)
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter"}}
			d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "daemok-controller"}}
			if tt.secret {
				d.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
			}
			store := fake.NewClientBuilder().WithObjects(d).WithInterceptorFuncs(interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, to client.ObjectList, opts ...client.ListOption) error {
				if tt.forbidden {
					return &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Message: schema.GroupResource{Group: "apps", Resource: "deployments"}.String() + " is forbidden: no"}}
				}
				return c.List(ctx, to, opts...)
			}}).Build()
			var notes strings.Builder
			at := inspect.NewTarget()
			at.Notes = &notes
			if err := at.Learn(t.Context(), store); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got := at.Setting("FEATURE_GATES"); got != tt.env {
					t.Errorf("FEATURE_GATES is %q, want %q", got, tt.env)
				}
			}
			if notes.String() != tt.want {
				t.Errorf("it says\n%swant\n%s", &notes, tt.want)
			}
		})
	}
}

// A plan that finds no controller says so, what it assumes, and how the controller of another namespace is named.
func TestThatThereIsNoControllerIsSaid(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	const none = "No controller was found in namespace kube-system: settings of this environment are used, else defaults; "
	elsewhere := commandtest.Installed()
	elsewhere.Namespace = "nodes"
	for name, tt := range map[string]struct {
		objects []client.Object
		system  string
		want    string
	}{
		"there is one":            {objects: []client.Object{commandtest.Installed()}},
		"there is none":           {want: none + "no other namespace has one either.\n"},
		"another namespace has":   {objects: []client.Object{elsewhere}, want: none + "there is one in namespace nodes: give --system-namespace nodes to use its settings.\n"},
		"that namespace is named": {objects: []client.Object{elsewhere}, system: "nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			var notes strings.Builder
			at := inspect.NewTarget()
			at.Notes, at.System = &notes, tt.system
			if _, err := liveCluster(t, account, tt.objects...)(t.Context(), at); err != nil {
				t.Fatal(err)
			}
			if notes.String() != tt.want {
				t.Errorf("it says\n%swant\n%s", &notes, tt.want)
			}
		})
	}
}

// kubectl's --namespace is the controller's where a command is about nothing else in a namespace; plan and explain are about pods.
func TestTheNamespaceOfTheController(t *testing.T) {
	for name, tt := range map[string]struct {
		at    *inspect.Target
		flags []string
		want  string
	}{
		"none is given":           {inspect.NewTarget(), nil, "kube-system"},
		"by kubectl's flag":       {inspect.NewTarget(), []string{"-n", "nodes"}, "nodes"},
		"by both flags":           {inspect.NewTarget(), []string{"-n", "nodes", "--system-namespace", "karpenter"}, "karpenter"},
		"beside that of the pods": {inspect.NewTarget().ForObjects(), []string{"-n", "shop"}, "kube-system"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SYSTEM_NAMESPACE", "")
			cmd := &cobra.Command{}
			tt.at.AddTo(cmd)
			if err := cmd.ParseFlags(tt.flags); err != nil {
				t.Fatal(err)
			}
			if got := tt.at.SystemNamespace(); got != tt.want {
				t.Errorf("%v mean the controller in namespace %s, want %s", tt.flags, got, tt.want)
			}
		})
	}
}
