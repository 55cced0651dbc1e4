// Package commandtest gives tests of commands an AWS account and a record of decisions.
//
// It promises that both end with the test. It is used in tests alone.
package commandtest

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// EmulatedAccount connects to an AWS account that is not real.
func EmulatedAccount(t *testing.T) *aws.Provider {
	t.Helper()
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": web.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true", "CLUSTER_NAME": "prod",
	} {
		t.Setenv(name, value)
	}
	provider, err := inspect.Market(t.Context(), inspect.NewTarget())
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

// Leave writes a record as a controller does when it ends: what has a topic holds, and the rest has happened.
func Leave(t *testing.T, store client.Client, list ...record.Statement) {
	t.Helper()
	decisions := &record.Record{}
	for _, s := range list {
		if s.From = time.Now(); s.Topic != "" {
			decisions.Hold(s, nil)
			continue
		}
		decisions.Note(s)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	ring := &record.Ring{Record: decisions, Store: store, Live: store, Namespace: "kube-system",
		Log: slog.New(slog.DiscardHandler), Count: func(string) {}, Now: time.Now}
	if err := ring.Run(ended); err != nil {
		t.Fatal(err)
	}
}

// Installed is the controller's Deployment with these settings.
func Installed(env ...string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter"}}
	d.Spec.Template.Spec.ServiceAccountName = "karpenter"
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "controller",
		Image: "ghcr.io/daemok/daemok-controller:v1"}}
	for _, line := range append([]string{"CLUSTER_NAME=prod"}, env...) {
		name, value, _ := strings.Cut(line, "=")
		d.Spec.Template.Spec.Containers[0].Env = append(d.Spec.Template.Spec.Containers[0].Env,
			corev1.EnvVar{Name: name, Value: value})
	}
	return d
}

// Met is what could not be had.
type Met []cloud.Unavailable

// UnavailableSeen are all.
func (m Met) UnavailableSeen() []cloud.Unavailable { return m }

// RecallUnavailable does nothing.
func (Met) RecallUnavailable([]cloud.Unavailable) {}
