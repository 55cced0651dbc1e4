package up

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/charts"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/lab/bootstrap"
	"github.com/daemok/daemok/lab/directory"
)

// Installation is how the product gets into a lab.
type Installation string

// The ways of installation.
const (
	AsProgram Installation = "program" // one process with a kubeconfig of its own; custom resources and rights by the lab
	ByChart   Installation = "chart"   // the Helm charts, whose pods run as processes
	Nothing   Installation = "none"    // the cluster as it is before anything is installed: the user does that
)

// Chart is what is installed by Helm.
type Chart struct {
	Path   string   // folder or package of chart daemok; empty: the one that the lab was built with
	Values []string // files, as of helm's --values
}

// The release by which the chart is installed, as its guide does.
const (
	release     = bootstrap.ControllerAccount
	releaseCRDs = "daemok-crd"
)

// rolloutWithin is how long a lab that starts waits for the chart's pods.
const rolloutWithin = time.Minute

// installation is that of both charts with Helm.
type installation struct {
	chart     Chart
	identity  Identity
	account   string // number of the emulated account
	directory directory.Directory
	admin     *rest.Config
	program   string // the lab's own, which is Helm too
	say       func(format string, args ...any)
}

// install installs the charts, or upgrades what an earlier start installed.
func (i *installation) install(ctx context.Context) error {
	folder := i.directory.File("charts")
	if err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, charts.FS)); err != nil {
		return fmt.Errorf("write charts: %w", err)
	}
	values := filepath.Join(folder, "values.yaml")
	content, err := yaml.Marshal(i.values())
	if err != nil {
		return err
	}
	if err := directory.WriteFile(values, content); err != nil {
		return err
	}
	if err := i.associate(ctx); err != nil {
		return err
	}
	if err := i.helm(ctx, "upgrade", "--install", releaseCRDs, filepath.Join(folder, "daemok-crd")); err != nil {
		return err
	}
	args := []string{"upgrade", "--install", release, cmp.Or(i.chart.Path, filepath.Join(folder, "daemok")), "--skip-crds", "--values", values}
	for _, file := range i.chart.Values {
		args = append(args, "--values", file)
	}
	if err := i.helm(ctx, args...); err != nil {
		return err
	}
	return i.awaitRollout(ctx)
}

// chartValues are those that the guide sets.
func (i *installation) values() map[string]any {
	return map[string]any{
		"settings": map[string]any{"clusterName": i.identity.ClusterName, "interruptionQueue": i.identity.ClusterName},
		"controller": map[string]any{"resources": map[string]any{
			"requests": map[string]any{"cpu": "1", "memory": "1Gi"}, "limits": map[string]any{"memory": "1Gi"},
		}},
	}
}

// associate gives the chart's service account the controller's role by Pod Identity, unless a file
// of values does so by annotation.
func (i *installation) associate(ctx context.Context) error {
	for _, file := range i.chart.Values {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read values: %w", err)
		}
		if bytes.Contains(content, []byte("eks.amazonaws.com/role-arn")) {
			return nil
		}
	}
	_, err := ownerEKS(i.identity).CreatePodIdentityAssociation(ctx, &eks.CreatePodIdentityAssociationInput{
		ClusterName: &i.identity.ClusterName, Namespace: awssdk.String(bootstrap.ControllerNamespace),
		ServiceAccount: awssdk.String(bootstrap.ControllerAccount), RoleArn: awssdk.String("arn:aws:iam::" + i.account + ":role/" + controllerRole(i.identity.ClusterName)),
	})
	if _, there := errors.AsType[*types.ResourceInUseException](err); there {
		return nil
	}
	return err
}

// helm runs Helm in the lab's cluster, as a user of the lab would.
func (i *installation) helm(ctx context.Context, args ...string) error {
	args = append([]string{"helm", "--dir", i.directory.Root()}, append(args, "--namespace", bootstrap.ControllerNamespace)...)
	command := exec.CommandContext(ctx, i.program, args...)
	said, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("helm %s: %w: %s", strings.Join(args[3:], " "), err, bytes.TrimSpace(said))
	}
	return nil
}

// awaitRollout waits for the chart's pods to be ready. That they are not in time is reported and
// is no error: the lab is there to find out why.
func (i *installation) awaitRollout(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(i.admin)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, rolloutWithin)
	defer cancel()
	for {
		list, err := client.AppsV1().Deployments(bootstrap.ControllerNamespace).List(limited, metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + release})
		if err == nil && len(list.Items) > 0 {
			d := list.Items[0]
			if s := d.Status; s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == s.Replicas && s.ReadyReplicas == *d.Spec.Replicas {
				return nil
			}
		}
		if pause.For(limited, 100*time.Millisecond) != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	i.say("going on while not all pods of release %s are ready after %v: see `daemok lab kubectl -n %s get pods`, and `daemok lab status` for their logs", release, rolloutWithin, bootstrap.ControllerNamespace)
	return nil
}
