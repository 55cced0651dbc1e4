// Package inspect reads a live cluster as its controller sees it, for the commands of daemok.
//
// It promises to use the settings of the controller that is installed there, as far as the
// environment says nothing else, and to name every setting that it could not read. It changes nothing.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/remember"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/gates"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	bufferv1beta1 "github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	daemokv1alpha1 "github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/api/validate"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/ui/progress"
)

// Situation is what is planned about, and what manifests can be added to.
type Situation struct {
	Snapshot *cluster.Snapshot
	World    manifest.World // empty for a saved snapshot that was not recalled
	Failing  []string       // NodeClaims whose launch fails, and why, a sentence each
	Unread   []string       // what may not be read, what a plan lacks for that, and the way out, a sentence each

	classes *Classes // nil: of a saved snapshot
}

// Reader reads the situation of a live cluster.
type Reader func(ctx context.Context, at *Target) (Situation, error)

// Read reads the cluster, and asks AWS for the offerings of its classes: with the settings of
// the controller that is installed there, as far as this process' environment says nothing else.
func Read(ctx context.Context, at *Target) (Situation, error) {
	return read(ctx, at, os.Stderr)
}

// ReadBeside is Read for a command that shows something else meanwhile, and how the controller there makes plans. What
// Read notes is among Situation.Unread, and at stays as it is.
func ReadBeside(ctx context.Context, at *Target) (Situation, decide.Policy, error) {
	own, notes := *at, &troubles{}
	own.Notes, own.unread, own.Controller = notes, map[string]bool{}, installation.Installation{}
	s, err := read(ctx, &own, io.Discard)
	if err != nil {
		return s, decide.Policy{}, err
	}
	policy, err := PolicyOf(own.Setting)
	s.Unread = append(s.Unread, notes.list()...)
	return s, policy, err
}

// read says on out what it waits for.
func read(ctx context.Context, at *Target, out io.Writer) (Situation, error) {
	line := progress.Start(ctx, out, "connecting to the cluster")
	defer line.Stop()
	at.Notes = line.Over(at.Notes)
	store, err := Connect(at)
	if err != nil {
		return Situation{}, err
	}
	if err := at.Learn(ctx, store); err != nil {
		return Situation{}, err
	}
	line.Step("asking EC2 for instance types and prices")
	provider, err := Market(ctx, at)
	if err != nil {
		return Situation{}, err
	}
	line.Step("reading nodes, pods and NodePools")
	return ReadFrom(ctx, at, store, provider)
}

// ReadFrom reads the cluster behind a store, whose classes are of a provider.
func ReadFrom(ctx context.Context, at *Target, store client.Client, provider *aws.Provider) (Situation, error) {
	at.sayAbsent(ctx, store)
	serves, older, err := Served(store)
	if err != nil {
		return Situation{}, err
	}
	classes, err := ClassesOf(ctx, at, store, provider, older)
	if err != nil {
		return Situation{}, err
	}
	offerings := func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
		catalogue, err := classes.Offered(ctx, ref)
		if err != nil {
			return nil, err.Error()
		}
		return catalogue, ""
	}
	now := time.Now
	clusterState := snapshot.New(offerings, func() time.Time { return now() })
	clusterState.Configure(func(s *snapshot.Settings) {
		s.Generations = serves
		if provider.ReadsCommitments() {
			s.Account = provider.Commitments
		}
	})
	if err := setUp(clusterState, at.SystemNamespace(), at.Setting); err != nil {
		return Situation{}, err
	}
	acting, err := actingPod(ctx, at, store)
	if err != nil {
		return Situation{}, err
	}
	clusterState.Configure(func(s *snapshot.Settings) { s.Self = acting })
	unread := &troubles{}
	if _, err := clusterState.Read(ctx, lenient{store, unread}); err != nil {
		return Situation{}, err
	}
	unread.set("commitments of the account", accountUnread(provider.Commitments()))
	unread.set("commitments", listedUnread(clusterState))
	if err := recallSeen(ctx, store, at.SystemNamespace(), clusterState, provider); err != nil {
		return Situation{}, err
	}
	s := clusterState.Snapshot()
	failing, err := launchesThatFail(ctx, store)
	if err != nil {
		return Situation{}, err
	}
	now = func() time.Time { return s.Now } // so that manifests alone make a difference
	return Situation{Snapshot: s, Failing: failing, Unread: unread.list(), classes: classes, World: manifest.World{
		ClusterState: clusterState, Now: s.Now, Older: provisioner.Pool, Reader: store,
		Class: func(o client.Object) error { return classes.Add(ctx, o) },
		Priorities: func() ([]schedulingv1.PriorityClass, error) {
			var all []schedulingv1.PriorityClass
			err := pages.Each(ctx, store, &schedulingv1.PriorityClassList{},
				func(l *schedulingv1.PriorityClassList) { all = append(all, l.Items...) })
			return all, err
		},
	}}, nil
}

// recallSeen takes in what the controller has seen and no object says, such as which
// offerings could not be had lately. Without the right to read it less is known.
func recallSeen(ctx context.Context, store client.Client, namespace string, clusterState *snapshot.ClusterState,
	provider *aws.Provider) error {
	book := &remember.Book{ClusterState: clusterState, Spot: provider, Sizes: provider, Offerings: provider,
		Live: store, Namespace: namespace}
	if err := book.Load(ctx); err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// launchesThatFail are the NodeClaims whose launch AWS refuses: what is planned onto them
// waits until that is mended.
func launchesThatFail(ctx context.Context, store client.Client) (out []string, err error) {
	err = pages.Each(ctx, store, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			c := &l.Items[i]
			is := condition.Get(c, karpv1.ClaimLaunched)
			if is == nil || is.Status == metav1.ConditionTrue || is.Message == "" || c.DeletionTimestamp != nil {
				continue
			}
			out = append(out, fmt.Sprintf("NodeClaim %s is not launched: %s: %s", c.Name, is.Reason, is.Message))
		}
	})
	slices.Sort(out)
	return out, err
}

// Recall makes a saved snapshot something that manifests can be added to, with
// the settings that the environment has.
func Recall(s *cluster.Snapshot) (Situation, error) {
	clusterState := snapshot.Recall(s)
	return Situation{Snapshot: s,
		World: manifest.World{ClusterState: clusterState, Now: s.Now, Saved: s,
			Older: provisioner.Pool}}, setUp(clusterState, NewTarget().SystemNamespace(), os.Getenv)
}

// setUp gives a cluster state the settings of the controller of a namespace, by their environment variables.
func setUp(clusterState *snapshot.ClusterState, namespace string, setting func(string) string) error {
	spreads, err := podspec.DefaultSpreads(setting("SCHEDULER_CONFIG"))
	if err != nil {
		return fmt.Errorf("SCHEDULER_CONFIG: %w", err)
	}
	cost, err := instanceCost(setting("MACHINE_COST"))
	if err != nil {
		return fmt.Errorf("MACHINE_COST: %w", err)
	}
	room, err := room(setting)
	if err != nil {
		return err
	}
	switches, err := gates.Core(setting("FEATURE_GATES"))
	if err != nil {
		return fmt.Errorf("FEATURE_GATES %w", err)
	}
	autoscaler := false
	if text := setting("CLUSTER_AUTOSCALER_ANNOTATIONS"); text != "" {
		if autoscaler, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("CLUSTER_AUTOSCALER_ANNOTATIONS is %q: want true or false", text)
		}
	}
	ignoreDRA := true
	if text := setting("IGNORE_DRA_REQUESTS"); text != "" {
		if ignoreDRA, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("IGNORE_DRA_REQUESTS is %q: want true or false", text)
		}
	}
	clusterState.Configure(func(s *snapshot.Settings) {
		s.PlanDevices = !ignoreDRA
		s.Pools.ClusterAutoscaler = mark.ClusterAutoscaler(autoscaler)
		s.NoOverlays, s.NoRequests = !switches.On(gates.Overlay), !switches.On(gates.Requests)
		if s.NoQuotas = !switches.On(gates.Quotas); switches.On(gates.Commitments) {
			s.CommitmentsIn = namespace
		}
		s.Instance = setting("PROCESSOR_INSTANCE")
		s.Spreads, s.FreezeIn, s.Pools.InstanceCost, s.Pools.Room = spreads, namespace, cost, room
		if switches.On(gates.NodeRepair) {
			s.Pools.Repair = mark.UsualRepair()
		}
	})
	return nil
}

// instanceCost reads the controller's setting; nothing said is nothing.
func instanceCost(text string) (quantity.MicroUSDPerHour, error) {
	if text == "" {
		return 0, nil
	}
	return mark.Cost(text)
}

// room reads the controller's settings of what instances are to leave to pods.
func room(setting func(string) string) (cluster.Room, error) {
	out := cluster.UsualRoom()
	var err error
	if text := setting("MIN_POD_MEMORY"); text != "" {
		if out.Memory, err = mark.PodMemory(text); err != nil {
			return out, fmt.Errorf("MIN_POD_MEMORY: %w", err)
		}
	}
	if text := setting("MAX_SYSTEM_MEMORY"); text != "" {
		if out.System, err = mark.SystemMemory(text); err != nil {
			return out, fmt.Errorf("MAX_SYSTEM_MEMORY: %w", err)
		}
	}
	return out, nil
}

// Connector returns a client of a cluster.
type Connector func(*Target) (client.Client, error)

// Connect returns a client of the cluster.
func Connect(at *Target) (client.Client, error) {
	config, err := at.Config()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// Scheme are those that a cluster is asked for.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, karpv1.AddToScheme, v1alpha1.AddToScheme, awsv1.AddToScheme, v1alpha5.AddToScheme,
		awsv1alpha1.AddToScheme, daemokv1alpha1.AddToScheme, apiextensionsv1.AddToScheme, metricsv1beta1.AddToScheme,
		vpav1.AddToScheme, bufferv1beta1.AddToScheme, autoscalingv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return scheme, nil
}

// Market connects to AWS and reads what is available.
func Market(ctx context.Context, at *Target) (*aws.Provider, error) {
	provider, err := Account(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := provider.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("learn what EC2 offers in %s: %w", provider.Region(), err)
	}
	return provider, nil
}

// Account connects to AWS.
func Account(ctx context.Context, at *Target) (*aws.Provider, error) {
	name := at.EKSName()
	if name == "" {
		return nil, errors.New("give --cluster-name, or set CLUSTER_NAME, the cluster's name in EKS, to list its offerings; in the lab: source the file lab.env")
	}
	settings, err := OptionsOf(at.Setting)
	if err != nil {
		return nil, err
	}
	settings.Cluster, settings.Region, settings.Agent = name, at.Region, "daemok-cli"
	provider, err := aws.New(ctx, settings)
	if err != nil {
		return nil, err
	}
	return provider, provider.Check(ctx)
}

// Classes are those of a cluster, and of manifests that go before them.
type Classes struct {
	store    client.Client
	provider *aws.Provider
	Kinds    []class.Kind
	given    map[string]client.Object      // objects of manifests by kind and name
	Found    map[string]nodeclass.Resolved // what AWS has for their classes
}

// ClassesOf are the classes of a cluster; older: of the older API generation too.
func ClassesOf(ctx context.Context, at *Target, store client.Client, provider *aws.Provider, older bool) (*Classes,
	error) {
	switches, err := gates.AWS(at.Setting("AWS_FEATURE_GATES"))
	if err != nil {
		return nil, fmt.Errorf("AWS_FEATURE_GATES %w", err)
	}
	kinds := KindsOfClasses(older, switches.On(gates.Expressions), at.UsualClasses())
	version, err := provider.KubernetesVersion(ctx)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		if kind.Learn != nil {
			kind.Learn(version)
		}
	}
	return &Classes{store, provider, kinds, map[string]client.Object{}, map[string]nodeclass.Resolved{}}, nil
}

// Get and List make the classes of manifests part of the cluster.
func (cs *Classes) Get(ctx context.Context, key client.ObjectKey, into client.Object,
	options ...client.GetOption) error {
	if o, given := cs.given[KeyOf(into, key.Name)]; given {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(o.DeepCopyObject()).Elem())
		return nil
	}
	return cs.store.Get(ctx, key, into, options...)
}

// List implements client.Reader.
func (cs *Classes) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return cs.store.List(ctx, list, options...)
}

// KeyOf is the key by which an object of this name is found among classes of manifests.
func KeyOf(o client.Object, name string) string { return fmt.Sprintf("%T/%s", o, name) }

// Add takes in an object of a manifest, and looks up what it asks for where it is a class.
// Nothing is made for it: an instance profile changes no offering.
func (cs *Classes) Add(ctx context.Context, o client.Object) error {
	key := KeyOf(o, o.GetName())
	for i := range cs.Kinds {
		kind := &cs.Kinds[i]
		if KeyOf(kind.New(), o.GetName()) != key {
			continue
		}
		cs.given[key] = o
		if kind.Is != nil && !kind.Is(o) {
			return nil
		}
		return cs.look(ctx, kind, o, key)
	}
	return fmt.Errorf("the cluster does not have the older API generation, so it would refuse a %s: apply Daemok's CRDs first", o.GetObjectKind().GroupVersionKind().Kind)
}

func (cs *Classes) look(ctx context.Context, kind *class.Kind, o client.Object, key string) error {
	if wrong := validate.Refusal(kind.Validate(o)); wrong != "" {
		return errors.New(wrong)
	}
	kind.SetStatus(o, awsv1.EC2NodeClassStatus{})
	settings, err := class.Settings(kind.Of(o))
	if err != nil {
		return err
	}
	if err := userdata.Check(settings.Spec.Family, settings.Spec.UserData); err != nil {
		return err
	}
	if settings.Resolved.Subnets, err = cs.provider.Subnets(ctx, settings); err != nil {
		return err
	}
	if settings.Spec.LaunchTemplate == "" {
		if settings.Resolved.Groups, err = cs.provider.Groups(ctx, settings); err != nil {
			return err
		}
		if settings.Resolved.Images, err = cs.provider.Images(ctx, settings); err != nil {
			return err
		}
	}
	err = learn(ctx, cs.provider, &settings)
	cs.Found[key] = settings.Resolved
	return err
}

// learn looks up what a class selects of which only so much is to be had: capacity
// reservations, and room in its placement group.
func learn(ctx context.Context, provider *aws.Provider, c *nodeclass.Class) (err error) {
	if c.Resolved.Placement, err = provider.Placement(ctx, *c); err != nil {
		return err
	}
	c.Resolved.Reservations, err = provider.Reservations(ctx, *c)
	return err
}

// Offered is the instance types of a class, or in the controller's words why nothing.
func (cs *Classes) Offered(ctx context.Context, ref karpv1.NodeClassReference) (*cluster.Catalogue, error) {
	id := translate.ClassID(ref)
	at := slices.IndexFunc(cs.Kinds, func(k class.Kind) bool { return k.Group == ref.Group && k.Name == ref.Kind })
	if at < 0 {
		return nil, &translate.NotReadyError{ClassID: id, Why: class.Absent}
	}
	c, err := cs.Kinds[at].ByName(ctx, cs, ref.Name)
	if apierrors.IsNotFound(err) {
		return nil, &translate.NotReadyError{ClassID: id, Why: class.Absent}
	}
	if err != nil {
		return nil, fmt.Errorf("read class %s: %w", id, err)
	}
	found, given := cs.Found[KeyOf(c.Object, c.GetName())]
	if why := class.WhyNot(c); why != "" && !given {
		return nil, &translate.NotReadyError{ClassID: id, Why: why}
	}
	settings, err := class.Settings(c)
	if err != nil {
		return nil, err
	}
	if given {
		settings.Resolved = found
	} else if err := learn(ctx, cs.provider, &settings); err != nil {
		return nil, err
	}
	return cs.provider.Kinds(ctx, cloud.Class{ID: id, Settings: settings})
}

// Served are the API generations of pools that a cluster has; older reports whether v1alpha5 is among them.
func Served(store client.Client) (serves translate.Generations, older bool, err error) {
	older, err = provisioner.Served(store.RESTMapper())
	if err != nil || !older {
		return translate.Generations{translate.NodePools()}, false, err
	}
	return translate.Generations{translate.NodePools(), provisioner.Generation()}, true, nil
}
