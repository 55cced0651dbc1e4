package whole_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/deploy"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/test/store"
)

// resources are what kinds are called in rules.
var resources = map[string]string{
	"Node": "nodes", "Pod": "pods", "Namespace": "namespaces", "LimitRange": "limitranges", "Service": "services",
	"PersistentVolume": "persistentvolumes", "PersistentVolumeClaim": "persistentvolumeclaims", "ReplicationController": "replicationcontrollers",
	"StorageClass": "storage.k8s.io/storageclasses", "CSINode": "storage.k8s.io/csinodes", "VolumeAttachment": "storage.k8s.io/volumeattachments",
	"ConfigMap": "configmaps", "PodDisruptionBudget": "policy/poddisruptionbudgets",
	"RuntimeClass": "node.k8s.io/runtimeclasses", "DaemonSet": "apps/daemonsets", "Deployment": "apps/deployments",
	"ReplicaSet": "apps/replicasets", "StatefulSet": "apps/statefulsets", "Job": "batch/jobs",
	"NodeClaim": "karpenter.sh/nodeclaims", "NodePool": "karpenter.sh/nodepools",
	"NodeOverlay":           "karpenter.sh/nodeoverlays",
	"VerticalPodAutoscaler": "autoscaling.k8s.io/verticalpodautoscalers",
	"ProvisioningRequest":   "autoscaling.x-k8s.io/provisioningrequests",
	"CapacityQuota":         "autoscaling.x-k8s.io/capacityquotas",
	"CapacityBuffer":        "autoscaling.x-k8s.io/capacitybuffers", "PodTemplate": "podtemplates", "PriorityClass": "scheduling.k8s.io/priorityclasses",
	"DisruptionPolicy": "daemok.sh/disruptionpolicies", "EC2NodeClass": "karpenter.k8s.aws/ec2nodeclasses",
	"DeviceClass": "resource.k8s.io/deviceclasses", "ResourceSlice": "resource.k8s.io/resourceslices",
	"ResourceClaim":         "resource.k8s.io/resourceclaims",
	"ResourceClaimTemplate": "resource.k8s.io/resourceclaimtemplates",
	"Provisioner":           "karpenter.sh/provisioners", "AWSNodeTemplate": "karpenter.k8s.aws/awsnodetemplates",
}

// elsewhere are the rights that the loops over this server in memory do not
// show, with who needs each.
var elsewhere = map[string]string{
	"watch karpenter.k8s.aws/ec2nodeclasses":             "the loop over classes",
	"watch karpenter.k8s.aws/awsnodetemplates":           "the same",
	"update karpenter.sh/nodepools/finalizers":           "claims whose owner blocks: asked by the API server's admission",
	"update karpenter.sh/provisioners/finalizers":        "the same",
	"update karpenter.sh/nodeclaims/finalizers":          "nodes whose owner blocks: asked by the API server's admission",
	"get apps/replicasets":                               "events on workloads of pods without place",
	"get apps/statefulsets":                              "the same",
	"get batch/jobs":                                     "the same",
	"get replicationcontrollers":                         "the same",
	"get persistentvolumeclaims":                         "drains of nodes with volumes",
	"create events":                                      "the recorder of events",
	"patch events":                                       "the recorder, for events that come again",
	"create coordination.k8s.io/leases":                  "the elector",
	"get coordination.k8s.io/leases":                     "the elector",
	"update coordination.k8s.io/leases":                  "the elector",
	"get apiextensions.k8s.io/customresourcedefinitions": "the round that compares them with those of the build",
	"get services":                                       "the address of kube-dns, at the start",
}

// uses gathers what a controller does at the API server, in the words of
// rules.
type uses struct {
	t    *testing.T
	mu   sync.Mutex
	done map[string]bool
}

func (u *uses) add(verb, kind, sub string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	resource, known := resources[strings.TrimSuffix(kind, "List")]
	if !known {
		u.t.Errorf("what is %s called in rules?", kind)
	}
	u.done[verb+" "+resource+sub] = true
}

func (u *uses) called(c store.Call) (before, after error) {
	switch {
	case c.Verb == store.Evict:
		u.add("create", c.Kind, "/eviction")
	case c.Status:
		u.add(string(c.Verb), c.Kind, "/status")
	case c.Scale:
		u.add(string(c.Verb), c.Kind, "/scale")
	default:
		u.add(string(c.Verb), c.Kind, "")
	}
	return nil, nil
}

func (u *uses) watched(o client.Object) {
	kind := reflect.TypeOf(o).Elem().Name()
	u.add("list", kind, "")
	u.add("watch", kind, "")
}

// given reads the rights that a manifest gives, in the same words.
func given(t *testing.T, manifest []byte) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, document := range strings.Split(string(manifest), "\n---\n") {
		var role rbacv1.ClusterRole // a Role's rules read the same
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					out[verb+" "+strings.TrimPrefix(rule.APIGroups[0]+"/"+resource, "/")] = true
				}
			}
		}
	}
	return out
}

// The rights in deploy are what the loops use, and no more.
func TestTheRightsAreThoseTheLoopsUse(t *testing.T) {
	u := &uses{t: t, done: map[string]bool{}}
	reportAWS(t, 31, func(t *testing.T, w *world) {
		w.create(disruptionPolicy(v1alpha1.DisruptionPolicySpec{}))
		w.overlay("paid", "m5.large", price("0.01"))
		w.quota("all", "", amounts("nodes", "20"))
		w.podTemplate("web")
		w.buffer("spare", 0, nil)
		w.request("train", checks, 1, nil)
		w.buffer("share", 0, func(s *v1beta1.CapacityBufferSpec) {
			s.PodTemplateRef, s.ScalableRef = nil, &v1beta1.ScalableRef{Kind: "Deployment", Name: "shop"}
		})
		w.pool("default", func(p *karpv1.NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = "10m" })
		w.start(setup{
			fault: u.called, watched: u.watched, build: build{name: "v1"}, devices: true,
			spreads: []corev1.TopologySpreadConstraint{{TopologyKey: api.LabelZone, MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway}},
		})
		w.nodeTemplate(v1alpha5.DefaultTemplate)
		w.provisioner("old", func(s *v1alpha5.ProvisionerSpec) { s.TTLSecondsAfterEmpty = new(int64(30)) })
		w.deploy("batch", 1, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelProvisioner: "old"} })
		w.deploy("web", 2, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelNodePool: "default"} })
		w.until(5*time.Minute, "all pods running", func() bool { return w.run(3) })
		w.server.BlockEvictions(func(*corev1.Pod) bool { return true }) // until the deadline deletes them
		old := w.claims()
		for i := range old {
			if old[i].Labels[api.LabelNodePool] != "" {
				w.delete(&old[i])
			}
		}
		w.until(20*time.Minute, "new machines alone", func() bool {
			return w.run(3) && !slices.ContainsFunc(w.claims(), func(c karpv1.NodeClaim) bool { return c.DeletionTimestamp != nil })
		})
		w.server.BlockEvictions(nil)
		w.scale("web", 0)
		w.scale("batch", 0)
		w.until(10*time.Minute, "an empty cluster", w.empty)
	})
	rights, steering := given(t, deploy.RBAC), given(t, deploy.SteeringRBAC)
	for _, use := range slices.Sorted(maps.Keys(u.done)) {
		if !rights[use] && !steering[use] {
			t.Errorf("the loops %s, the rights do not allow it", use)
		}
	}
	for _, right := range slices.Sorted(maps.Keys(rights)) {
		switch why, known := elsewhere[right]; {
		case !u.done[right] && !known:
			t.Errorf("the rights allow to %s, nothing does", right)
		case u.done[right] && known:
			t.Errorf("the loops do %s: it need not be excused by %q", right, why)
		}
	}
	for right, why := range elsewhere {
		if !rights[right] {
			t.Errorf("%s is missing in the rights: %s", right, why)
		}
	}
}
