package inspect

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

// Target is the cluster that a command is about: at Kubernetes by kubectl's flags, and at
// AWS by its name and region. newTarget makes one.
type Target struct {
	*kubectl.Flags
	ClusterName, Region string
	System              string                    // namespace of the controller by flag; empty: systemNamespace says
	Controller          installation.Installation // learn finds it
	Notes               io.Writer                 // where it says which settings are not known; standard error, unless another is set
	unread              map[string]bool           // objects of which it has said so
	ofObjects           bool                      // --namespace is of the objects that a command is about; else of the controller
}

// NewTarget is the cluster of the current context, until flags say otherwise.
func NewTarget() *Target {
	return &Target{Flags: kubectl.NewFlags(), Notes: os.Stderr, unread: map[string]bool{}}
}

// AddTo lets the user say which cluster is meant.
func (t *Target) AddTo(cmd *cobra.Command) {
	of := pflag.NewFlagSet("", pflag.ContinueOnError)
	t.Flags.AddTo(of)
	of.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{OfKubectl: {"true"}} })
	if !t.ofObjects {
		of.Lookup("namespace").Usage = "Namespace of the controller, as --system-namespace says it too"
	}
	cmd.Flags().AddFlagSet(of)
	cmd.Flags().StringVar(&t.System, "system-namespace", "",
		"namespace of the controller; default SYSTEM_NAMESPACE, else "+usualSystem)
}

// usualSystem is the namespace of the controller where nothing names another.
const usualSystem = "kube-system"

// SystemNamespace is where the controller runs, and keeps its ConfigMaps.
func (t *Target) SystemNamespace() string {
	given := t.System
	if given == "" && !t.ofObjects {
		given = t.GivenNamespace()
	}
	return cmp.Or(given, os.Getenv("SYSTEM_NAMESPACE"), usualSystem)
}

// ForObjects has --namespace mean the objects that a command is about.
func (t *Target) ForObjects() *Target {
	t.ofObjects = true
	return t
}

// Lease is what controllers lead by: as this environment says, else as the installed one has it once learn has found it.
func (t *Target) Lease() installation.Lease {
	return installation.LeaseOf(t.SystemNamespace(), t.Setting)
}

// OfKubectl marks flags that are kubectl's, which help lists by themselves.
const OfKubectl = "kubectl"

// AddAWS lets the user say which one it is at AWS.
func (t *Target) AddAWS(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.ClusterName, "cluster-name", "",
		"name of the cluster in EKS; default CLUSTER_NAME, else that of the installed controller")
	cmd.Flags().StringVar(&t.Region, "region", "", "AWS region of the cluster; default as the AWS SDK finds it")
}

// Learn finds how the controller is set up that is installed in the cluster. Where that may
// not be read, it says so, and settings are those of the environment alone.
func (t *Target) Learn(ctx context.Context, store client.Reader) error {
	namespace := t.SystemNamespace()
	found, err := installation.Find(ctx, store, namespace)
	if apierrors.IsForbidden(err) {
		fmt.Fprintf(t.Notes,
			"The controller's settings are not known (%v): those of this environment are used, and defaults. "+
				"Get the right to list deployments.apps in namespace %s, or set the variables that the controller has.\n", err, namespace)
		return nil
	}
	t.Controller = found
	return err
}

// sayAbsent says that there is no controller where learn searched for one, what is used in place of its settings, and
// where there is one.
func (t *Target) sayAbsent(ctx context.Context, store client.Reader) {
	if t.Controller.Namespace == "" || t.Controller.Deployment != nil {
		return
	}
	where, err := installation.Namespaces(ctx, store)
	way := "where it runs in another namespace, name that by --system-namespace"
	switch {
	case err != nil: // a user who may read only one namespace has to know the other
	case len(where) == 0:
		way = "no other namespace has one either"
	default:
		way = fmt.Sprintf("there is one in namespace %s: give --system-namespace %s to use its settings",
			strings.Join(where, ", "), where[0])
	}
	fmt.Fprintf(t.Notes,
		"No controller was found in namespace %s: settings of this environment are used, else defaults; %s.\n", t.SystemNamespace(), way)
}

// Setting is a setting of the controller by its environment variable: that of this process,
// or else what the installed controller has once learn has found it.
func (t *Target) Setting(name string) string {
	return cmp.Or(os.Getenv(name), t.Installed(name))
}

// Installed is a setting that the installed controller has. It says once of each object that was not read that there may be others.
func (t *Target) Installed(name string) string {
	if object := t.Controller.Unread(name); object != "" && os.Getenv(name) == "" && !t.unread[object] {
		t.unread[object] = true
		fmt.Fprintf(t.Notes,
			"The controller may have %s and other settings from %s, which is not read: defaults are used. "+
				"Set in this environment what it has there.\n", name, object)
	}
	return t.Controller.Setting(name)
}

// UsualClasses is what holds for classes of the v1alpha5 API that say nothing else.
func (t *Target) UsualClasses() class.Usual {
	live := t.Controller.Live
	return class.Usual{InstanceProfile: live.InstanceProfile, Tags: live.Tags, ManyPods: live.ManyPods,
		NoPodInterfaces: live.NoPodInterfaces}
}

// EKSName is the name of the cluster at AWS; empty: it is not known.
func (t *Target) EKSName() string { return cmp.Or(t.ClusterName, t.Setting("CLUSTER_NAME")) }
