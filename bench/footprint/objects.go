package footprint

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// keptRevisions is how many ReplicaSets of older revisions a Deployment keeps by default.
const keptRevisions = 10

// meta is that of an object that was made two days ago.
func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uuid.NewUUID(), Generation: 1,
		CreationTimestamp: metav1.NewTime(time.Now().AddDate(0, 0, -2).Truncate(time.Second))}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uuid.NewUUID(),
		Labels: map[string]string{corev1.LabelMetadataName: name}}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}}
}

// owner has pods made after its template.
type owner interface {
	client.Object
	template() *corev1.PodTemplateSpec
	kind() string
}

type replicaSet struct{ appsv1.ReplicaSet }

func (r *replicaSet) template() *corev1.PodTemplateSpec { return &r.Spec.Template }
func (r *replicaSet) kind() string                      { return "ReplicaSet" }

// app is a Deployment with what belongs to it.
type app struct {
	name, namespace string
	revision        string
	set             *replicaSet
}

func letters(n int, dice *rand.Rand) string {
	const from = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, n)
	for i := range out {
		out[i] = from[dice.IntN(len(from))]
	}
	return string(out)
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory)}
}

func newApp(i int, dice *rand.Rand) *app {
	a := &app{name: fmt.Sprintf("service-%03d", i), namespace: fmt.Sprintf("team-%02d", i/4),
		revision: letters(10, dice), set: &replicaSet{}}
	labels := map[string]string{"app.kubernetes.io/name": a.name, "app.kubernetes.io/instance": a.name,
		"app.kubernetes.io/version": "1.14.2", "app.kubernetes.io/managed-by": "Helm", "team": a.namespace,
		appsv1.DefaultDeploymentUniqueLabelKey: a.revision}
	a.set.ObjectMeta = meta(a.namespace, a.name+"-"+a.revision)
	a.set.Labels = labels
	a.set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": a.name,
		appsv1.DefaultDeploymentUniqueLabelKey: a.revision}}
	requests := amounts([]string{"100m", "150m", "200m", "250m"}[dice.IntN(4)],
		[]string{"128Mi", "256Mi", "512Mi"}[dice.IntN(3)])
	a.set.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels,
		Annotations: map[string]string{
			"prometheus.io/scrape": "true", "prometheus.io/port": "8080", "checksum/config": letters(64,
				dice)}}, Spec: podSpec(a.name, requests)}
	if dice.IntN(2) == 0 { // half of them are spread over zones where that can be
		a.set.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1,
			TopologyKey:       corev1.LabelTopologyZone,
			WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": a.name}}}}
	}
	return a
}

// podSpec is what a usual chart and admission make of a pod's spec.
func podSpec(name string, requests corev1.ResourceList) corev1.PodSpec {
	seconds, mode := int64(30), int32(420)
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path,
			Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}},
			InitialDelaySeconds: 5, TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3}
	}
	main := corev1.Container{Name: "main", Image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/" + name + ":1.14.2",
		Args: []string{"--config=/etc/service/config.yaml", "--log-format=json"},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP},
			{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP}},
		Resources: corev1.ResourceRequirements{Requests: requests,
			Limits: corev1.ResourceList{corev1.ResourceMemory: requests[corev1.ResourceMemory]}},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/service", ReadOnly: true},
			{Name: "secret", MountPath: "/etc/secret", ReadOnly: true}, {Name: "tmp", MountPath: "/tmp"},
			{Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
		LivenessProbe: probe("/live"), ReadinessProbe: probe("/ready"), ImagePullPolicy: corev1.PullIfNotPresent,
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile}
	for i := range 15 {
		main.Env = append(main.Env,
			corev1.EnvVar{Name: fmt.Sprintf("SERVICE_SETTING_%d", i),
				Value: fmt.Sprintf("https://setting-%d.%s.svc.cluster.local:8443/path", i, name)})
	}
	sidecar := corev1.Container{Name: "proxy", Image: "public.ecr.aws/envoy/proxy:v1.34.1",
		Resources: corev1.ResourceRequirements{Requests: amounts("10m", "32Mi")}, ReadinessProbe: probe("/ready"),
		VolumeMounts: main.VolumeMounts[3:], ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile}
	token := int64(3607)
	return corev1.PodSpec{Containers: []corev1.Container{main, sidecar}, RestartPolicy: corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: &seconds, DNSPolicy: corev1.DNSClusterFirst,
		ServiceAccountName: name, DeprecatedServiceAccount: name, SecurityContext: &corev1.PodSecurityContext{}, SchedulerName: corev1.DefaultSchedulerName,
		Volumes: []corev1.Volume{
			{Name: "config",
				VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, DefaultMode: &mode}}},
			{Name: "secret",
				VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name,
					DefaultMode: &mode}}},
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "kube-api-access",
				VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode,
					Sources: []corev1.VolumeProjection{
						{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &token, Path: "token"}},
						{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
					}}}},
		},
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: &seconds},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists,
				Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
		}}
}

// objects are the app's, with so many replicas, beside its pods.
func (a *app) objects(replicas int) []client.Object {
	count, selector := int32(replicas), map[string]string{"app.kubernetes.io/name": a.name} // small
	d := &appsv1.Deployment{ObjectMeta: meta(a.namespace, a.name)}
	d.Spec.Replicas, d.Spec.Selector, d.Spec.Template = &count, &metav1.LabelSelector{MatchLabels: selector}, a.set.Spec.Template
	of := []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	current := a.set.ReplicaSet
	current.OwnerReferences, current.Spec.Replicas = of, &count
	current.Status = appsv1.ReplicaSetStatus{Replicas: count, ReadyReplicas: count, AvailableReplicas: count}
	tenth := intstr.FromString("10%")
	out := []client.Object{d, &current, namespace(a.namespace),
		&corev1.Service{ObjectMeta: meta(a.namespace, a.name),
			Spec: corev1.ServiceSpec{Selector: selector,
				Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta(a.namespace, a.name),
			Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &tenth,
				Selector: &metav1.LabelSelector{MatchLabels: selector}},
			Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: count / 10,
				CurrentHealthy: count, DesiredHealthy: count - count/10, ExpectedPods: count}}}
	for i := range keptRevisions {
		none, older := int32(0), a.set.ReplicaSet
		older.ObjectMeta = meta(a.namespace, fmt.Sprintf("%s%d", a.set.Name, i))
		older.Labels, older.OwnerReferences, older.Spec.Replicas = a.set.Labels, of, &none
		out = append(out, &older)
	}
	return out
}

func (a *app) pods(n int, dice *rand.Rand) (out []*corev1.Pod) {
	for range n {
		p := podOf(a.set, letters(5, dice), dice)
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBurstable,
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
					LastTransitionTime: metav1.Now()}}}
		out = append(out, p)
	}
	return out
}

// podOf is a pod of an owner, which shares with the others what their template says.
func podOf(o owner, id string, dice *rand.Rand) *corev1.Pod {
	if id == "" {
		id = letters(5, dice)
	}
	p := &corev1.Pod{ObjectMeta: meta(o.GetNamespace(), o.GetName()+"-"+id), Spec: o.template().Spec}
	p.GenerateName, p.Labels, p.Annotations = o.GetName()+"-", o.template().Labels, o.template().Annotations
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(o,
		appsv1.SchemeGroupVersion.WithKind(o.kind()))}
	p.ManagedFields = managed(p)
	return p
}

// managed is who wrote which fields, in the form and about the size that API servers note it.
func managed(o client.Object) (out []metav1.ManagedFieldsEntry) {
	text, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("an object that cannot be encoded: %v", err))
	}
	at := o.GetCreationTimestamp()
	for _, by := range []string{"kube-controller-manager", "kubelet"} {
		fields := fmt.Sprintf(`{"f:metadata":{".":%q}}`, text[:min(len(text), 1200)])
		out = append(out,
			metav1.ManagedFieldsEntry{Manager: by, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
				Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)})
	}
	return out
}

// runningOn is a pod as it runs on a node.
func runningOn(p *corev1.Pod, n *corev1.Node, dice *rand.Rand) *corev1.Pod {
	out, since, started := *p, p.CreationTimestamp, true
	out.Spec.NodeName = n.Name
	out.Status = corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, StartTime: &since,
		HostIP: n.Status.Addresses[0].Address, HostIPs: []corev1.HostIP{{IP: n.Status.Addresses[0].Address}}, PodIP: address(dice)}
	out.Status.PodIPs = []corev1.PodIP{{IP: out.Status.PodIP}}
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		out.Status.Conditions = append(out.Status.Conditions,
			corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: since})
	}
	for _, c := range p.Spec.Containers {
		out.Status.ContainerStatuses = append(out.Status.ContainerStatuses,
			corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image + "@sha256:" + letters(64, dice),
				ContainerID: "containerd://" + letters(64,
					dice), Ready: true, Started: &started, Resources: &c.Resources, AllocatedResources: c.Resources.Requests,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}}})
	}
	return &out
}

func address(dice *rand.Rand) string {
	return fmt.Sprintf("10.%d.%d.%d", dice.IntN(256), dice.IntN(256), dice.IntN(256))
}

type daemonSet struct{ appsv1.DaemonSet }

func (d *daemonSet) template() *corev1.PodTemplateSpec { return &d.Spec.Template }
func (d *daemonSet) kind() string                      { return "DaemonSet" }

// daemonSets are those that every cluster at EKS has; they are the same at each call but for their UIDs.
func daemonSets() (out []*daemonSet) {
	for i, name := range []string{"aws-node", "kube-proxy", "ebs-csi-node"}[:daemonsPerNode] {
		d := &daemonSet{}
		d.ObjectMeta = meta(metav1.NamespaceSystem, name)
		d.UID = types.UID(fmt.Sprintf("7c1f4a52-6a0e-4f0b-9c1d-00000000000%d", i))
		labels := map[string]string{"k8s-app": name, "controller-revision-hash": "5d8b7c6f9",
			"pod-template-generation": "3"}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"k8s-app": name}}
		d.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: podSpec(name, amounts("50m", "64Mi"))}
		d.Spec.Template.Spec.PriorityClassName = "system-node-critical"
		d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		out = append(out, d)
	}
	return out
}

func nodeName(dice *rand.Rand) string {
	return "ip-" + letters(4, dice) + "-" + letters(8, dice) + ".ec2.internal"
}

// csiNode is what the driver of volumes says of a node.
func csiNode(n *corev1.Node) *storagev1.CSINode {
	return &storagev1.CSINode{ObjectMeta: meta("", n.Name),
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com",
			NodeID: translate.InstanceID(n.Spec.ProviderID)}}}}
}

// nodeOf is the node of a launched claim as it joins, with room for so many pods.
func nodeOf(claim *karpv1.NodeClaim, pods int64, dice *rand.Rand) *corev1.Node {
	ip := address(dice)
	n := &corev1.Node{ObjectMeta: meta("", nodeName(dice))}
	n.CreationTimestamp = metav1.Now()
	n.Labels = map[string]string{corev1.LabelHostname: n.Name, corev1.LabelArchStable: "amd64",
		corev1.LabelOSStable: "linux", "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
		corev1.LabelInstanceTypeStable: claim.Labels[corev1.LabelInstanceTypeStable], corev1.LabelInstanceType: claim.Labels[corev1.LabelInstanceTypeStable],
		corev1.LabelTopologyZone: claim.Labels[corev1.LabelTopologyZone], corev1.LabelTopologyRegion: region, "k8s.io/cloud-provider-aws": letters(32, dice)}
	n.Annotations = map[string]string{"node.alpha.kubernetes.io/ttl": "0",
		"volumes.kubernetes.io/controller-managed-attach-detach": "true", "csi.volume.kubernetes.io/nodeid": `{"ebs.csi.aws.com":"` + translate.InstanceID(claim.Status.ProviderID) + `"}`}
	n.Spec = corev1.NodeSpec{ProviderID: claim.Status.ProviderID,
		Taints: []corev1.Taint{{Key: api.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}}
	n.Status = corev1.NodeStatus{Capacity: claim.Status.Capacity.DeepCopy(),
		Allocatable: claim.Status.Allocatable.DeepCopy(),
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip},
			{Type: corev1.NodeInternalDNS, Address: n.Name}, {Type: corev1.NodeHostName, Address: n.Name}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
		NodeInfo: corev1.NodeSystemInfo{MachineID: letters(32, dice), SystemUUID: letters(36, dice),
			BootID: letters(36, dice), KernelVersion: "6.12.53-69.119.amzn2023.x86_64", OSImage: "Amazon Linux 2023",
			ContainerRuntimeVersion: "containerd://2.1.4", KubeletVersion: "v1." + kubernetes + ".0-eks-" + letters(7,
				dice), OperatingSystem: "linux", Architecture: "amd64"}}
	for _, list := range []corev1.ResourceList{n.Status.Capacity, n.Status.Allocatable} {
		list[corev1.ResourcePods] = *resource.NewQuantity(pods, resource.DecimalSI)
	}
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady} {
		is := corev1.ConditionFalse
		if kind == corev1.NodeReady {
			is = corev1.ConditionTrue
		}
		n.Status.Conditions = append(n.Status.Conditions,
			corev1.NodeCondition{Type: kind, Status: is, Reason: "Kubelet" + string(kind),
				Message: "kubelet has it so", LastHeartbeatTime: metav1.Now(), LastTransitionTime: n.CreationTimestamp})
	}
	for i := range 40 {
		image := fmt.Sprintf("123456789012.dkr.ecr.us-east-1.amazonaws.com/service-%03d", i)
		n.Status.Images = append(n.Status.Images,
			corev1.ContainerImage{Names: []string{image + "@sha256:" + letters(64, dice), image + ":1.14.2"},
				SizeBytes: 200 << 20})
	}
	n.ManagedFields = managed(n)
	return n
}
