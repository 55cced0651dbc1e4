package installation

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/pages"
)

// Shadow reports whether the installation is in shadow mode: it makes plans and changes nothing.
func (i Installation) Shadow() bool { return isOn(i.Setting("SHADOW")) }

// InShadow are the Deployments with a ready pod that run in shadow mode, in any namespace, as "namespace/name". One
// that gets this setting from a ConfigMap is missed.
func InShadow(ctx context.Context, from client.Reader) (all []string, err error) {
	err = pages.Each(ctx, from, &appsv1.DeploymentList{}, func(l *appsv1.DeploymentList) {
		for i := range l.Items {
			d := &l.Items[i]
			if c := controllerOf(&d.Spec.Template.Spec); c != nil && shadows(c) && d.Status.ReadyReplicas > 0 {
				all = append(all, d.Namespace+"/"+d.Name)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find Deployments in shadow mode: %w", err)
	}
	return all, nil
}

// shadows reports whether a container states that it runs in shadow mode.
func shadows(c *corev1.Container) bool { return isOn(stated(c)["SHADOW"]) }

func isOn(value string) bool {
	on, err := strconv.ParseBool(strings.ToLower(value))
	return err == nil && on
}
