package machine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/daemok/daemok/lab/boot"
	"github.com/daemok/daemok/lab/event"
	"github.com/daemok/daemok/lab/kubelet"
	"github.com/daemok/daemok/lab/machine"
)

const userData = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: lab, apiServerEndpoint: "https://api", certificateAuthority: Q0E=, cidr: 10.100.0.0/16}
  kubelet:
    config:
      maxPods: 29
      registerWithTaints: [{key: karpenter.sh/unregistered, effect: NoExecute}]
    flags: ["--node-labels=karpenter.sh/nodepool=default"]
`

// instance is a running m5.large that takes 30 seconds to its registration.
func instance(change ...func(*machine.Instance)) machine.Instance {
	i := machine.Instance{
		ID: "i-1", Type: "m5.large", Region: "us-east-1", Zone: "us-east-1a", ZoneID: "use1-az1",
		State: machine.Running, ImageName: "amazon-eks-node-al2023-x86_64-standard-1.35-v20261101",
		UserData: []byte(userData), PrivateDNS: "ip-10-0-0-1.ec2.internal", PrivateIP: "10.0.0.1",
		Role: "NodeRole", Tags: map[string]string{}, NodeDelay: 30 * time.Second,
	}
	for _, c := range change {
		c(&i)
	}
	return i
}

func tag(key, value string) func(*machine.Instance) {
	return func(i *machine.Instance) { i.Tags[key] = value }
}

// podsSeen records which nodes handle pods at the moment.
type podsSeen struct {
	mu    sync.Mutex
	nodes map[string]kubelet.Node
	off   map[string]bool // nodes that lost their power
}

func (p *podsSeen) Join(n kubelet.Node) { p.mu.Lock(); p.nodes[n.Name] = n; p.mu.Unlock() }
func (p *podsSeen) Leave(name string)   { p.mu.Lock(); delete(p.nodes, name); p.mu.Unlock() }
func (p *podsSeen) PowerOff(name string) {
	p.Leave(name)
	p.mu.Lock()
	p.off[name] = true
	p.mu.Unlock()
}
func (p *podsSeen) isOff(name string) bool { p.mu.Lock(); defer p.mu.Unlock(); return p.off[name] }
func (p *podsSeen) node(name string) (kubelet.Node, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.nodes[name]
	return n, ok
}

// lab is a fleet over a cluster in memory, in virtual time.
type lab struct {
	*machine.Fleet
	t      *testing.T
	client *fake.Clientset
	pods   *podsSeen
}

func inLab(t *testing.T, story func(l lab)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		client := fake.NewClientset()
		pods := &podsSeen{nodes: map[string]kubelet.Node{}, off: map[string]bool{}}
		events := event.NewRecorder(event.Rate{PerSecond: 10, Burst: 100}, slog.New(slog.DiscardHandler))
		var telling sync.WaitGroup
		telling.Go(func() { _ = events.Run(ctx) })
		f := machine.NewFleet(ctx, machine.Options{
			Cluster:       boot.Cluster{Name: "lab", Endpoint: "https://api", CA: []byte("CA")},
			Connect:       func(string) (machine.Client, error) { return client, nil },
			Admin:         client,
			Pods:          pods,
			Facts:         facts,
			Version:       "v1.36.3",
			ReadyAfter:    5 * time.Second,
			DevicesAfter:  10 * time.Second,
			DRADrivers:    true,
			UnmappedRoles: []string{"Stranger"},
			Events:        events,
		})
		story(lab{Fleet: f, t: t, client: client, pods: pods})
		cancel()
		f.Wait()
		telling.Wait()
	})
}

func facts(i machine.Instance) (machine.Facts, error) {
	if i.Type != "m5.large" {
		return machine.Facts{}, fmt.Errorf("no such type: %s", i.Type)
	}
	devices, published := map[string]int64{}, []machine.Published(nil)
	if strings.Contains(i.ImageName, "nvidia") {
		devices["nvidia.com/gpu"] = 4
		published = []machine.Published{{Driver: "gpu.nvidia.com", Devices: make([]resourcev1.Device, 4)}}
	}
	return machine.Facts{
		Hardware:   boot.Hardware{Type: i.Type, Arch: "amd64", VCPUs: 2, MemoryMiB: 8192, ENIs: 3, IPsPerENI: 10, DiskGiB: 20, Devices: devices},
		VolumesMax: 26, Published: published,
	}, nil
}

const name = "ip-10-0-0-1.ec2.internal"

func (l lab) node() *corev1.Node {
	l.t.Helper()
	n, err := l.client.CoreV1().Nodes().Get(l.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

// says reports to the status one of the node's conditions.
func (l lab) says(kind corev1.NodeConditionType) corev1.ConditionStatus {
	l.t.Helper()
	if n := l.node(); n != nil {
		for _, c := range n.Status.Conditions {
			if c.Type == kind {
				return c.Status
			}
		}
	}
	return ""
}

func (l lab) renewed() time.Time {
	l.t.Helper()
	lease, err := l.client.CoordinationV1().Leases("kube-node-lease").Get(l.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	return lease.Spec.RenewTime.Time
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// An instance registers after its boot as its user data says, gets the labels of its place,
// turns ready, and handles pods from then on.
func TestMachineBecomesNode(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance())
		pass(29 * time.Second)
		if l.node() != nil {
			t.Fatal("node is there before its boot is over")
		}
		pass(2 * time.Second)
		n := l.node()
		if n == nil || l.says(corev1.NodeReady) != corev1.ConditionFalse {
			t.Fatalf("node after its boot = %+v, want one that is not ready", n)
		}
		wantLabels := map[string]string{
			"karpenter.sh/nodepool": "default", "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64",
			"kubernetes.io/os": "linux", "topology.kubernetes.io/zone": "us-east-1a", "topology.kubernetes.io/region": "us-east-1",
			"node.kubernetes.io/instance-type": "m5.large", "topology.k8s.aws/zone-id": "use1-az1",
		}
		for key, value := range wantLabels {
			if n.Labels[key] != value {
				t.Errorf("label %s = %q, want %q", key, n.Labels[key], value)
			}
		}
		if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "karpenter.sh/unregistered" {
			t.Errorf("taints = %v, want the one of the user data", n.Spec.Taints)
		}
		if n.Spec.ProviderID != "aws:///us-east-1a/i-1" || n.Status.NodeInfo.KubeletVersion != "v1.35.0-eks-3025e55" {
			t.Errorf("provider id %s, kubelet %s; want the instance and the image's version", n.Spec.ProviderID, n.Status.NodeInfo.KubeletVersion)
		}
		if n.Status.Allocatable.Pods().Value() != 29 || n.Status.Allocatable.Memory().Cmp(*n.Status.Capacity.Memory()) >= 0 {
			t.Errorf("allocatable = %v of %v, want 29 pods and less memory", n.Status.Allocatable, n.Status.Capacity)
		}
		if _, ok := l.pods.node(name); ok {
			t.Error("a node that is not ready handles pods")
		}
		if _, err := l.client.StorageV1().CSINodes().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("%v: the scheduler would know no limit of volumes once the node is ready", err)
		}
		pass(5 * time.Second)
		if _, ok := l.pods.node(name); !ok || l.says(corev1.NodeReady) != corev1.ConditionTrue {
			t.Errorf("node after its network came up: ready %s, handles pods %v", l.says(corev1.NodeReady), ok)
		}
		csi, err := l.client.StorageV1().CSINodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || *csi.Spec.Drivers[0].Allocatable.Count != 26 || l.node().Labels["topology.ebs.csi.aws.com/zone"] != "us-east-1a" {
			t.Errorf("volume driver = %+v, %v; want 26 volumes in the node's zone", csi, err)
		}
	})
}

// Names come again with their addresses. What the driver of an earlier instance has published under the name goes
// with that instance's node, and would leave this one without limits.
func TestADriverTakesThePlaceOfWhatAnEarlierMachineLeft(t *testing.T) {
	inLab(t, func(l lab) {
		left := &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: "left", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: "gone"}}},
			Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: machine.EBSDriver, NodeID: "i-0"}}},
		}
		if _, err := l.client.StorageV1().CSINodes().Create(t.Context(), left, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		l.Handle(instance())
		pass(time.Minute)
		csi, err := l.client.StorageV1().CSINodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		driver := csi.Spec.Drivers[0]
		if csi.OwnerReferences[0].UID != l.node().UID || driver.NodeID != "i-1" || driver.Allocatable == nil || *driver.Allocatable.Count != 26 {
			t.Errorf("the driver is %+v of node %q; want 26 volumes of i-1, which stay with its node", driver, csi.OwnerReferences[0].UID)
		}
	})
}

// The lease is renewed every ten seconds and not after the power went, when
// the Node object stays behind.
func TestLeaseEndsWithThePower(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance())
		pass(time.Minute)
		first := l.renewed()
		pass(10 * time.Second)
		if got := l.renewed().Sub(first); got != 10*time.Second {
			t.Errorf("lease moved by %v in ten seconds, want 10s", got)
		}
		l.Handle(instance(func(i *machine.Instance) { i.State = "shutting-down" }))
		last := l.renewed()
		pass(time.Hour)
		if _, ok := l.pods.node(name); ok || !l.renewed().Equal(last) || l.node() == nil {
			t.Errorf("without power: handles pods %v, lease %v after %v, node %v; want silence and the node left", ok, l.renewed(), last, l.node() != nil)
		}
		if !l.pods.isOff(name) {
			t.Error("what runs of the node's pods is not told that the power went")
		}
		if len(l.IDs()) != 0 {
			t.Errorf("machines with power = %v, want none", l.IDs())
		}
	})
}

// Whoever may not join never does, and the console says why.
func TestMachineNeverJoins(t *testing.T) {
	data := func(from, to string) func(*machine.Instance) {
		return func(i *machine.Instance) { i.UserData = []byte(strings.Replace(userData, from, to, 1)) }
	}
	tests := map[string]struct {
		change func(*machine.Instance)
		want   string
	}{
		"its data names another cluster":      {data("name: lab", "name: other"), "Unauthorized"},
		"its data names another endpoint":     {data("https://api", "https://old"), "no route to host"},
		"its data is no NodeConfig":           {func(i *machine.Instance) { i.UserData = []byte("hello") }, "user data"},
		"its labels are not allowed":          {data("karpenter.sh/nodepool", "kubernetes.io/role"), "kubernetes.io/role"},
		"its reserved memory is no quantity":  {data("maxPods: 29", "kubeReserved: {memory: lots}"), "lots"},
		"its role is not mapped":              {func(i *machine.Instance) { i.Role = "Stranger" }, "role Stranger is not mapped"},
		"its tags say so":                     {tag(machine.TagNeverRegister, "true"), "keeps this instance from registering"},
		"the cloud drew so":                   {func(i *machine.Instance) { i.NeverRegisters = true }, "keeps this instance from registering"},
		"nobody knows what hardware it is of": {func(i *machine.Instance) { i.Type = "x9.huge" }, "no such type"},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			inLab(t, func(l lab) {
				l.Handle(instance(tt.change))
				pass(time.Hour)
				console := strings.Join(l.Console("i-1"), "\n")
				if l.node() != nil || !strings.Contains(console, tt.want) {
					t.Errorf("node %v, console:\n%s\nwant no node and %q", l.node() != nil, console, tt.want)
				}
			})
		})
	}
}

// A kubelet registers at its start alone: who deletes the Node object of an instance that
// runs has it back after a restart, not before.
func TestDeletedNodeComesBackAfterRestart(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance())
		pass(time.Minute)
		if err := l.client.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := l.client.CoordinationV1().Leases("kube-node-lease").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		if l.node() != nil {
			t.Fatal("node is back by itself")
		}
		if err := l.Restart("i-1"); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if _, ok := l.pods.node(name); !ok || l.says(corev1.NodeReady) != corev1.ConditionTrue {
			t.Errorf("after the restart: handles pods %v, ready %q; want both", ok, l.says(corev1.NodeReady))
		}
	})
}

// A node whose kubelet could not be heard for a while is ready again soon after it can, even
// where the node controller calls it unknown only then.
func TestANodeIsReadyAgainAfterItsLeaseHadRunOut(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance())
		pass(time.Minute)
		var away atomic.Bool
		l.client.PrependReactor("update", "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
			return away.Load(), nil, errors.New("connection refused")
		})
		away.Store(true)
		pass(time.Minute)
		away.Store(false)
		pass(10 * time.Second)
		node := l.node()
		for i := range node.Status.Conditions {
			node.Status.Conditions[i].Status = corev1.ConditionUnknown
		}
		if _, err := l.client.CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(20 * time.Second)
		if got := l.says(corev1.NodeReady); got != corev1.ConditionTrue {
			t.Errorf("half a minute after its lease is renewed again the node is ready: %s", got)
		}
	})
}

// A silent node says nothing until it is let speak again.
func TestSilentNode(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance(tag(machine.TagSilentAfter, "1m")))
		pass(2 * time.Minute)
		last := l.renewed()
		pass(time.Hour)
		if _, ok := l.pods.node(name); ok || !l.renewed().Equal(last) {
			t.Errorf("silent node handles pods %v, lease %v after %v", ok, l.renewed(), last)
		}
		if l.pods.isOff(name) {
			t.Error("a node whose kubelet hangs has lost its power")
		}
		if err := l.Silence("i-1", false); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if _, ok := l.pods.node(name); !ok || !l.renewed().After(last) {
			t.Errorf("node that speaks again handles pods %v, lease %v after %v", ok, l.renewed(), last)
		}
	})
}

func TestOrders(t *testing.T) {
	tests := map[string]struct {
		change func(*machine.Instance)
		after  time.Duration
		kind   corev1.NodeConditionType
		want   corev1.ConditionStatus // "" when there is no node or no such condition
	}{
		"a machine may boot late":                {tag(machine.TagBootAfter, "5m"), 5 * time.Minute, corev1.NodeReady, ""},
		"and is ready in the end":                {tag(machine.TagBootAfter, "5m"), 6 * time.Minute, corev1.NodeReady, "True"},
		"a node may never get ready":             {tag(machine.TagNeverReady, "true"), time.Hour, corev1.NodeReady, "False"},
		"a node may report a condition":          {tag(machine.TagCondition, "KernelDeadlock=True"), time.Minute, "KernelDeadlock", "True"},
		"a node may report itself not ready":     {tag(machine.TagCondition, "Ready=False"), time.Minute, corev1.NodeReady, "False"},
		"without orders there is no such report": {func(*machine.Instance) {}, time.Minute, "KernelDeadlock", ""},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			inLab(t, func(l lab) {
				l.Handle(instance(tt.change))
				pass(tt.after)
				if got := l.says(tt.kind); got != tt.want {
					t.Errorf("condition %s after %v = %q, want %q", tt.kind, tt.after, got, tt.want)
				}
			})
		})
	}
}

// Instances of a type get a command how to behave at their next boot, until that is taken
// back; what their own tags say counts before.
func TestOrdersForATypeToCome(t *testing.T) {
	inLab(t, func(l lab) {
		order := func(tags map[string]string) {
			t.Helper()
			if err := l.Order("m5.*", tags); err != nil {
				t.Fatal(err)
			}
		}
		order(map[string]string{machine.TagNeverRegister: "true"})
		l.Handle(instance())
		pass(time.Hour)
		if l.node() != nil {
			t.Error("an instance joined that the lab keeps from registering")
		}
		order(nil)
		if err := l.Restart("i-1"); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if l.says(corev1.NodeReady) != corev1.ConditionTrue {
			t.Error("the machine did not join at its next boot, when the order was taken back")
		}
		if err := l.Order("[", nil); err == nil {
			t.Error("a pattern that is none was taken")
		}
	})
}

// A kubelet whose role is not mapped asks again until it is.
func TestRoleIsMappedLate(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance(func(i *machine.Instance) { i.Role = "Stranger" }))
		pass(time.Hour)
		if l.node() != nil {
			t.Fatal("a node of a role that is not mapped was let in")
		}
		l.MapRole("Stranger", true)
		pass(time.Minute)
		if l.says(corev1.NodeReady) != corev1.ConditionTrue {
			t.Error("the node did not join after its role was mapped")
		}
	})
}

// A condition that was reported can be taken back; a kubelet's own is as it
// was before.
func TestReportsAreTakenBack(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance())
		pass(time.Minute)
		for kind, status := range map[corev1.NodeConditionType]corev1.ConditionStatus{"KernelDeadlock": "True", corev1.NodeReady: "Unknown"} {
			if err := l.Report("i-1", corev1.NodeCondition{Type: kind, Status: status}); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			if got := l.says(kind); got != status {
				t.Errorf("condition %s = %q, want %q as ordered", kind, got, status)
			}
			if err := l.Unreport("i-1", kind); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
		}
		if got := l.says("KernelDeadlock"); got != "" {
			t.Errorf("KernelDeadlock = %q after it was taken back, want none", got)
		}
		if got := l.says(corev1.NodeReady); got != corev1.ConditionTrue {
			t.Errorf("Ready = %q after the report was taken back, want True", got)
		}
	})
}

// Devices are in the node's resources when their plugin has registered, and
// not before, at the first boot and at any later one.
func TestDevicesComeLate(t *testing.T) {
	inLab(t, func(l lab) {
		gpus := func() int64 {
			q := l.node().Status.Allocatable["nvidia.com/gpu"]
			return q.Value()
		}
		l.Handle(instance(func(i *machine.Instance) { i.ImageName += "-nvidia" }))
		pass(36 * time.Second)
		if l.says(corev1.NodeReady) != corev1.ConditionTrue || gpus() != 0 {
			t.Errorf("at first: ready %s with %d GPUs, want True with none", l.says(corev1.NodeReady), gpus())
		}
		pass(20 * time.Second)
		n, _ := l.pods.node(name)
		if q := n.Allocatable["nvidia.com/gpu"]; gpus() != 4 || q.Value() != 4 {
			t.Errorf("after the plugin's time: %d GPUs, %d for pods; want 4", gpus(), q.Value())
		}
		if err := l.Restart("i-1"); err != nil {
			t.Fatal(err)
		}
		pass(36 * time.Second)
		if l.says(corev1.NodeReady) != corev1.ConditionTrue || gpus() != 0 {
			t.Errorf("after a new boot: ready %s with %d GPUs, want True with none", l.says(corev1.NodeReady), gpus())
		}
	})
}

// A node reports its start, as kubectl describe shows.
func TestNodeIsReported(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance())
		pass(time.Minute)
		list, err := l.client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		reported := map[string]bool{}
		for _, e := range list.Items {
			reported[e.Reason] = e.InvolvedObject.Name == name
		}
		if !reported["Starting"] || !reported["NodeReady"] {
			t.Errorf("events = %v, want its start and that it is ready", reported)
		}
	})
}

// Machines are found by instance or by node, with how far they are.
func TestMachinesAreFound(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance())
		steps := []struct {
			pattern string
			after   time.Duration
			want    string
		}{
			{"i-1", time.Second, "booting"}, {name, 30 * time.Second, "not ready"}, {"ip-10-*", time.Minute, "ready"}, {"i-2", 0, ""},
		}
		for _, step := range steps {
			pass(step.after)
			got, err := l.Machines(step.pattern)
			if err != nil {
				t.Fatal(err)
			}
			state := ""
			if len(got) == 1 {
				state = got[0].State
			}
			if state != step.want {
				t.Errorf("%s is %q, want %q", step.pattern, state, step.want)
			}
		}
	})
}

// Volumes that pods mount show in the node's status at once.
func TestVolumesInUse(t *testing.T) {
	inLab(t, func(l lab) {
		l.Handle(instance())
		pass(time.Minute)
		n, _ := l.pods.node(name)
		n.Mounted([]corev1.UniqueVolumeName{"kubernetes.io/csi/ebs.csi.aws.com^vol-1"})
		pass(time.Millisecond)
		if got := l.node().Status.VolumesInUse; len(got) != 1 {
			t.Errorf("volumes in use = %v, want one", got)
		}
		n.Mounted(nil)
		pass(time.Millisecond)
		if got := l.node().Status.VolumesInUse; len(got) != 0 {
			t.Errorf("volumes in use = %v, want none", got)
		}
	})
}

// A node that gets no credentials says so on its console.
func TestNoCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		client := fake.NewClientset()
		f := machine.NewFleet(ctx, machine.Options{
			Cluster: boot.Cluster{Name: "lab", Endpoint: "https://api", CA: []byte("CA")},
			Connect: func(string) (machine.Client, error) { return nil, errors.New("authority is locked") },
			Admin:   client, Facts: facts,
		})
		f.Handle(instance())
		pass(time.Minute)
		if console := strings.Join(f.Console("i-1"), "\n"); !strings.Contains(console, "authority is locked") {
			t.Errorf("console:\n%s\nwant the reason", console)
		}
		cancel()
		f.Wait()
	})
}

// An instance that is cut off does not join, and one that has joined is silent, until it is on the network
// again.
func TestAMachineIsCutOff(t *testing.T) {
	inLab(t, func(l lab) {
		i := instance()
		state := func() string {
			found, err := l.Machines(i.ID)
			if err != nil || len(found) != 1 {
				t.Fatalf("found %v, %v", found, err)
			}
			return found[0].State
		}
		l.Cut(i.ID, true)
		l.Handle(i)
		pass(time.Hour)
		if l.node() != nil {
			t.Error("a machine that nobody reaches has joined")
		}
		l.Cut(i.ID, false)
		pass(time.Minute)
		if got := state(); got != "ready" {
			t.Errorf("on the network it is %s, want ready", got)
		}
		l.Cut(i.ID, true)
		if got := state(); got != "silent" {
			t.Errorf("cut off again it is %s, want silent", got)
		}
		l.Cut(i.ID, false)
		if got := state(); got != "ready" {
			t.Errorf("in the end it is %s, want ready", got)
		}
	})
}
