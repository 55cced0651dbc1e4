package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/access/kubectl"
	"github.com/daemok/daemok/kube/installation"
)

// target is the cluster that a command is about: at Kubernetes by kubectl's flags, and at
// AWS by its name and region. newTarget makes one.
type target struct {
	*kubectl.Flags
	clusterName, region string
	system              string                    // namespace of the controller by flag; empty: systemNamespace says
	controller          installation.Installation // learn finds it
	notes               io.Writer                 // where it says which settings are not known; standard error, unless another is set
	unread              map[string]bool           // objects of which it has said so
	ofObjects           bool                      // --namespace is of the objects that a command is about; else of the controller
}

func newTarget() *target {
	return &target{Flags: kubectl.NewFlags(), notes: os.Stderr, unread: map[string]bool{}}
}

// addTo lets the user say which cluster is meant.
func (t *target) addTo(cmd *cobra.Command) {
	of := pflag.NewFlagSet("", pflag.ContinueOnError)
	t.Flags.AddTo(of)
	of.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{ofKubectl: {"true"}} })
	if !t.ofObjects {
		of.Lookup("namespace").Usage = "Namespace of the controller, as --system-namespace says it too"
	}
	cmd.Flags().AddFlagSet(of)
	cmd.Flags().StringVar(&t.system, "system-namespace", "", "namespace of the controller; default SYSTEM_NAMESPACE, else "+usualSystem)
}

// usualSystem is the namespace of the controller where nothing names another.
const usualSystem = "kube-system"

// systemNamespace is where the controller runs, and keeps its ConfigMaps.
func (t *target) systemNamespace() string {
	given := t.system
	if given == "" && !t.ofObjects {
		given = t.GivenNamespace()
	}
	return cmp.Or(given, os.Getenv("SYSTEM_NAMESPACE"), usualSystem)
}

// forObjects has --namespace mean the objects that a command is about.
func (t *target) forObjects() *target {
	t.ofObjects = true
	return t
}

// lease is what controllers lead by: as this environment says, else as the installed one has it once learn has found it.
func (t *target) lease() installation.Lease {
	return installation.LeaseOf(t.systemNamespace(), t.setting)
}

// ofKubectl marks flags that are kubectl's, which help lists by themselves.
const ofKubectl = "kubectl"

// addAWS lets the user say which one it is at AWS.
func (t *target) addAWS(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.clusterName, "cluster-name", "", "name of the cluster in EKS; default CLUSTER_NAME, else that of the installed controller")
	cmd.Flags().StringVar(&t.region, "region", "", "AWS region of the cluster; default as the AWS SDK finds it")
}

// learn finds how the controller is set up that is installed in the cluster. Where that may
// not be read, it says so, and settings are those of the environment alone.
func (t *target) learn(ctx context.Context, store client.Reader) error {
	namespace := t.systemNamespace()
	found, err := installation.Find(ctx, store, namespace)
	if apierrors.IsForbidden(err) {
		fmt.Fprintf(t.notes, "The controller's settings are not known (%v): those of this environment are used, and defaults. "+
			"Get the right to list deployments.apps in namespace %s, or set the variables that the controller has.\n", err, namespace)
		return nil
	}
	t.controller = found
	return err
}

// sayAbsent says that there is no controller where learn searched for one, what is used in place of its settings, and
// where there is one.
func (t *target) sayAbsent(ctx context.Context, store client.Reader) {
	if t.controller.Namespace == "" || t.controller.Deployment != nil {
		return
	}
	where, err := installation.Namespaces(ctx, store)
	way := "where it runs in another namespace, name that by --system-namespace"
	switch {
	case err != nil: // a user who may read only one namespace has to know the other
	case len(where) == 0:
		way = "no other namespace has one either"
	default:
		way = fmt.Sprintf("there is one in namespace %s: give --system-namespace %s to use its settings", strings.Join(where, ", "), where[0])
	}
	fmt.Fprintf(t.notes, "No controller was found in namespace %s: settings of this environment are used, else defaults; %s.\n", t.systemNamespace(), way)
}

// setting is a setting of the controller by its environment variable: that of this process,
// or else what the installed controller has once learn has found it.
func (t *target) setting(name string) string {
	return cmp.Or(os.Getenv(name), t.installed(name))
}

// installed is a setting that the installed controller has. It says once of each object that was not read that there may be others.
func (t *target) installed(name string) string {
	if object := t.controller.Unread(name); object != "" && os.Getenv(name) == "" && !t.unread[object] {
		t.unread[object] = true
		fmt.Fprintf(t.notes, "The controller may have %s and other settings from %s, which is not read: defaults are used. "+
			"Set in this environment what it has there.\n", name, object)
	}
	return t.controller.Setting(name)
}

// usual is what holds for classes of the v1alpha5 API that say nothing else.
func (t *target) usual() class.Usual {
	live := t.controller.Live
	return class.Usual{InstanceProfile: live.InstanceProfile, Tags: live.Tags, ManyPods: live.ManyPods, NoPodInterfaces: live.NoPodInterfaces}
}

// eksName is the name of the cluster at AWS; empty: it is not known.
func (t *target) eksName() string { return cmp.Or(t.clusterName, t.setting("CLUSTER_NAME")) }
