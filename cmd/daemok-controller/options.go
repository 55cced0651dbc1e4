package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/gates"
	"github.com/daemok/daemok/internal/misspelt"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/kube/settings"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/observe/state"
)

// acting are the features that are on unless their gates say otherwise.
type acting struct {
	static, overlays, buffers, requests, quotas, commitments bool
	accountCommitments                                       bool // are read
}

// options is how the controller is set up. Every one is a flag and an
// environment variable; a flag wins.
type options struct {
	metricsPort, healthPort           int
	kubeQPS                           int
	kubeBurst                         int
	leaderElection, electionDisabled  bool // the one says no to the other
	leaderElectionName, leaderElectNS string
	memoryLimit                       int64
	logLevel, logEncoding             string
	logPaths, logErrorPaths           string
	batchMax, batchIdle               time.Duration
	preferencePolicy, minValuesPolicy string
	preferenceWorth                   float64
	nominatePods                      bool
	schedulerConfig                   string
	defaultSpreads                    []corev1.TopologySpreadConstraint // of schedulerConfig
	featureGates                      string
	olderDrift, saysDrift             bool // of featureGates, and whether it is among them
	spotToSpot, nodeRepair, reserved  bool // of featureGates
	acting                                 // likewise
	payback                           string
	steering                          bool
	processorInstance                 string
	autoscaler                        bool // whether what users wrote for Cluster Autoscaler counts
	enableProfiling                   bool
	disableStateMetrics               bool
	offeringMetrics                   string
	legacyMetrics                     bool
	enableTracing                     bool
	web                               webOptions

	clusterName, clusterEndpoint, clusterCABundle string
	interruptionQueue                             string
	isolatedVPC, eksControlPlane, zonalShift      bool
	vmMemoryOverheadPercent                       float64
	reservedENIs                                  int
	disableDryRun                                 bool
	amiEvery, subnetEvery                         time.Duration
	awsFeatureGates                               string
	expressions                                   bool // of awsFeatureGates

	instanceCostText string
	instanceCost     quantity.MicroUSDPerHour // of instanceCostText
	surplusCredits   bool

	podMemoryText, systemMemoryText string
	room                            cluster.Room // of both

	kubernetesLeast *version.Version // the oldest to start on; nil: any

	given   settings.Settings             // of the ConfigMap, at the start
	allowed func(settings.Settings) error // whether the program would start with others
	stop    context.CancelCauseFunc       // ends the program

	assumedRole client.Role // for all calls to AWS; without an ARN none

	cpuRequests         int
	service             string
	noWarmup, ignoreDRA bool

	shadow shadowing

	ignored []string // feature gates that were given and change nothing, a few words each
	older   []string // options of Karpenter's v1alpha5 API that were given, which others have taken the place of
}

// readOptions reads the command line and, for what it does not name, the
// environment. What cannot be read is an error that names flag, variable and
// value.
func readOptions(args []string, env func(string) string) (options, error) {
	o, r := options{}, newReader(env)
	r.define(&o)
	if err := r.read(args); err != nil {
		return options{}, err
	}
	var err error
	if o.defaultSpreads, err = podspec.DefaultSpreads(o.schedulerConfig); err != nil {
		return options{}, fmt.Errorf("--scheduler-config (SCHEDULER_CONFIG): %w", err)
	}
	if o.instanceCost, err = mark.Cost(o.instanceCostText); err != nil {
		return options{}, fmt.Errorf("--machine-cost (MACHINE_COST): %w", err)
	}
	if o.room.Memory, err = mark.PodMemory(o.podMemoryText); err != nil {
		return options{}, fmt.Errorf("--min-pod-memory (MIN_POD_MEMORY): %w", err)
	}
	if o.room.System, err = mark.SystemMemory(o.systemMemoryText); err != nil {
		return options{}, fmt.Errorf("--max-system-memory (MAX_SYSTEM_MEMORY): %w", err)
	}
	if o.kubernetesLeast, err = leastKubernetes(env(minVersion)); err != nil {
		return options{}, err
	}
	o.older = r.older()
	if err := o.readGates(); err != nil {
		return options{}, err
	}
	o.leaderElection = !o.electionDisabled && !o.shadow.on
	return o, cmp.Or(o.check(), o.checkPlaces(), o.shadow.check(), o.web.check())
}

// define says what every option is called, and what it is by default.
func (r *reader) define(o *options) {
	r.integer(&o.metricsPort, "metrics-port", 8080, "port of /metrics")
	r.integer(&o.healthPort, "health-probe-port", 8081, "port of /healthz and /readyz")
	r.integer(&o.kubeQPS, "kube-client-qps", 200, "requests a second to the API server")
	r.integer(&o.kubeBurst, "kube-client-burst", 300, "requests to the API server at once")
	r.boolean(&o.electionDisabled, "disable-leader-election", false, "run without a lease; only if no other controller can run")
	r.text(&o.leaderElectionName, "leader-election-name", installation.UsualLease, "name of the lease; Karpenter's own by default, so that the two never act at the same time")
	r.text(&o.leaderElectNS, "leader-election-namespace", "", "namespace of the lease; the controller's own by default")
	r.integer64(&o.memoryLimit, "memory-limit", -1, "bytes that the container may use; the garbage collector keeps the heap below nine tenths of it")
	r.integer(&o.cpuRequests, "cpu-requests", usualCPU, "thousandths of a core that the container requests, which determine how many objects are reconciled at once; 0: as for 1000")
	r.text(&o.logLevel, "log-level", "info", "debug, info or error")
	r.text(&o.logEncoding, "log-encoding", encodingJSON, "format of log lines: json, or console for key=value")
	r.text(&o.logPaths, "log-output-paths", "stdout", "where log lines are written: stdout, stderr and files, separated by commas")
	r.text(&o.logErrorPaths, "log-error-output-paths", "stderr", "where a fatal error is written, as above")
	r.duration(&o.batchMax, "batch-max-duration", 10*time.Second, "close a batch after this long even if pods keep coming")
	r.duration(&o.batchIdle, "batch-idle-duration", time.Second, "close a batch after this long without a new pending pod")
	r.text(&o.preferencePolicy, "preference-policy", "Weigh", "how to treat preferred scheduling terms and ScheduleAnyway: Weigh follows those that are worth their cost, Respect follows them whatever they cost, Ignore never launches instances for them; see docs/concepts/scheduling.md")
	r.float(&o.preferenceWorth, "preference-worth", decide.Worth, "share by which a preference may raise the cost of its pods, if preferences are weighed")
	r.boolean(&o.nominatePods, "nominate-pods", false, "nominate nodes for the pods that they were launched for, so that kube-scheduler tries these nodes first; needs permission to patch pods/status; see docs/concepts/scheduling.md")
	r.text(&o.minValuesPolicy, "min-values-policy", "Strict", "Strict, or BestEffort to launch with fewer values than minValues requires")
	r.text(&o.schedulerConfig, "scheduler-config", "", "kube-scheduler's configuration as YAML, for its default topology spread constraints; see docs/concepts/scheduling.md")
	r.text(&o.featureGates, "feature-gates", "", "Name=true,Name=false. Off by default: SpotToSpotConsolidation (cheaper spot instances may replace spot instances), Drift (nodes of Provisioners are replaced when another image is selected; nodes of NodePools always drift) and NodeRepair (unhealthy nodes are replaced; see docs/tasks/node-repair.md). On by default: ReservedCapacity (capacity reservations are used; see docs/tasks/reservations.md), StaticCapacity (NodePools with spec.replicas keep that many nodes; see docs/tasks/static-capacity.md), NodeOverlay (NodeOverlays change prices and resources of instance types; see docs/tasks/overlays.md), CapacityBuffer (capacity is kept free for pods that may come; see docs/tasks/capacity-buffers.md), ProvisioningRequest (capacity is found for all pods of a batch or for none; see docs/tasks/provisioning-requests.md), CapacityQuota (CapacityQuotas limit what is launched from all NodePools together; see docs/tasks/quotas.md) and Commitments (plans use Reserved Instances and Savings Plans of ConfigMap daemok-commitments and, with --account-commitments, of the account; see docs/tasks/commitments.md)")
	r.text(&o.payback, "payback", "on", "on to replace a node only if that saves enough of its price, off to replace it for any saving; see docs/concepts/disruption.md")
	r.boolean(&o.steering, "steering", true, "empty the nodes that should be removed next without evictions: because of a taint new pods prefer other nodes, and because of a low deletion cost scale-downs begin with their pods; false removes both; see docs/concepts/disruption.md")
	r.boolean(&o.enableProfiling, "enable-profiling", false, "serve /debug/pprof on the metrics port")
	r.boolean(&o.disableStateMetrics, "disable-cluster-state-observability", false, "serve no metrics of individual nodes, pods and other objects, nor of their conditions")
	r.text(&o.offeringMetrics, "offering-metrics", string(state.UsedOfferings), "instance types and offerings to serve metrics for: used (those that a NodePool or Provisioner allows), all (everything that its class offers, megabytes per scrape) or none")
	r.boolean(&o.legacyMetrics, "legacy-metrics", true, "while Provisioners are served, also serve metrics under the names of Karpenter 0.27; see docs/reference/metrics.md")
	r.boolean(&o.enableTracing, "enable-tracing", false, "send a trace of each batch of pods by OTLP to OTEL_EXPORTER_OTLP_ENDPOINT; see docs/tasks/monitoring.md")
	r.integer(&o.web.port, "web-port", 0, "port of the pages that show the cluster in a browser, to this host alone; 0: none; see docs/tasks/web.md")
	r.boolean(&o.web.exposed, "web-exposed", false, "serve these pages to other hosts too, whose users need a token of Kubernetes; needs permission to review tokens")
	r.text(&o.clusterName, "cluster-name", "", "name of the EKS cluster; required")
	r.text(&o.clusterEndpoint, "cluster-endpoint", "", "URL at which instances reach the API server; if empty, the controller asks EKS")
	r.text(&o.clusterCABundle, "cluster-ca-bundle", "", "CA bundle for instances, base64; if empty, that of the controller's own connection")
	r.text(&o.awsFeatureGates, "aws-feature-gates", "", "Name=true,Name=false. Only NodeClassCEL has an effect: if true, kubelet settings of classes may contain CEL expressions over the instance type")
	r.boolean(&o.isolatedVPC, "isolated-vpc", false, "the VPC cannot reach the Pricing and IAM APIs")
	r.boolean(&o.accountCommitments, "account-commitments", false,
		"read the Reserved Instances and Savings Plans of the AWS account, for plans to use; "+
			"see docs/tasks/commitments.md")
	r.boolean(&o.zonalShift, "enable-zonal-shift", false, "launch nothing in a zone that a zonal shift or autoshift moves traffic away from; see docs/tasks/zonal-shift.md")
	r.boolean(&o.eksControlPlane, "eks-control-plane", false, "read the Kubernetes version from EKS instead of the API server")
	r.float(&o.vmMemoryOverheadPercent, "vm-memory-overhead-percent", aws.UsualMemoryOverhead, "share of memory that the hypervisor and kernel use, for types of which no instance has run yet; the default depends on the size of the type; see docs/concepts/aws.md")
	r.text(&o.interruptionQueue, "interruption-queue", "", "name of the SQS queue of interruption messages; if empty, none are read; see docs/tasks/interruption.md")
	r.text(&o.assumedRole.ARN, "assume-role-arn", "",
		"ARN of a role that the controller assumes for all calls to AWS; if empty, none")
	r.duration(&o.assumedRole.For, "assume-role-duration", 15*time.Minute, "session duration of that role")
	r.integer(&o.reservedENIs, "reserved-enis", 0, "network interfaces of each instance that are not used for pods")
	r.text(&o.instanceCostText, "machine-cost", "0", "dollars per hour that each instance costs in addition to its type and volumes, for pools without the annotation daemok.sh/machine-cost; see docs/concepts/cost.md")
	r.text(&o.podMemoryText, "min-pod-memory", "1Gi", "prefer instances that leave at least this much memory to pods, for pools without the annotation daemok.sh/min-pod-memory; 0: no limit; see docs/concepts/cost.md")
	r.text(&o.systemMemoryText, "max-system-memory", "25%", "prefer instances of which the system and DaemonSets use at most this share of the memory, for pools without the annotation daemok.sh/max-system-memory; 100%: no limit; see docs/concepts/cost.md")
	r.boolean(&o.surplusCredits, "surplus-credits", true, "fill burstable types above their baseline if that is cheapest, including the surplus credits; see docs/concepts/cost.md")
	r.boolean(&o.disableDryRun, "disable-dry-run", false, "do not check permissions with dry runs")
	r.duration(&o.amiEvery, "ami-refresh-interval", class.RefreshEvery, "interval between lookups of images")
	r.duration(&o.subnetEvery, "subnet-refresh-interval", class.RefreshEvery, "interval between lookups of subnets and their free addresses")
	r.boolean(&o.shadow.on, "shadow", false, "decide and record, and change nothing, beside another autoscaler; daemok shadow report says what this would have done; see docs/tasks/shadow.md")
	r.text(&o.shadow.manifests, "shadow-manifests", "", "folder or file with NodePools and EC2NodeClasses that shadow mode plans with in addition to those of the cluster")
	r.text(&o.shadow.nodes, "shadow-nodes", "", "label selector of nodes without NodeClaims that shadow mode counts as nodes of the NodePools that they match; if empty and there are manifests, those of EKS managed node groups and of eksctl")
	r.text(&o.shadow.file, "shadow-file", "", "file in which shadow mode keeps its history; if empty, ConfigMap daemok-shadow")
	r.text(&o.service, "karpenter-service", "", "name of the Service of the metrics port, through which /debug/ is reached")
	r.boolean(&o.autoscaler, "cluster-autoscaler-annotations", false, "count what users wrote for Cluster Autoscaler: safe-to-evict on pods, scale-down-disabled \"true\" on nodes, and its startup taints; see docs/get-started/from-cluster-autoscaler.md")
	r.text(&o.processorInstance, "processor-instance", "",
		"serve only ProvisioningRequests whose parameter processorInstance is this; if empty, those without it; "+
			"see docs/tasks/provisioning-requests.md")
	r.boolean(&o.noWarmup, "disable-controller-warmup", false, "true is refused: a standby replica always fills its caches, prices and instance types")
	r.boolean(&o.ignoreDRA, "ignore-dra-requests", true,
		"leave pods with ResourceClaims (dynamic resource allocation, DRA) alone; false: launch nodes with the "+
			"devices that they request; see docs/tasks/dra.md")
	r.defineOlder()
}

func (o *options) check() error {
	switch {
	case o.clusterName == "":
		return fmt.Errorf("the cluster's name is not set: give --cluster-name or CLUSTER_NAME")
	case o.logLevel != "" && o.logLevel != "debug" && o.logLevel != "info" && o.logLevel != "error":
		return fmt.Errorf("--log-level (LOG_LEVEL) is %q: want debug, info or error", o.logLevel)
	case o.noWarmup:
		return errors.New("--disable-controller-warmup (DISABLE_CONTROLLER_WARMUP) is true: a replica that waits for the lease is always warm; leave it out, or set it to false")
	case o.cpuRequests < 0:
		return fmt.Errorf("--cpu-requests (CPU_REQUESTS) is %d: want thousandths of a core, or 0 where the container asks for none", o.cpuRequests)
	case o.logEncoding != encodingJSON && o.logEncoding != encodingConsole:
		return fmt.Errorf("--log-encoding (LOG_ENCODING) is %q: want json or console", o.logEncoding)
	case new(decide.Preferences).Set(o.preferencePolicy) != nil:
		return fmt.Errorf("--preference-policy (PREFERENCE_POLICY) is %q: want Weigh, Respect or Ignore", o.preferencePolicy)
	case o.preferenceWorth <= 0:
		return fmt.Errorf("--preference-worth (PREFERENCE_WORTH) is %v: want a share above 0, such as 1 for as much again", o.preferenceWorth)
	case new(provisioning.MinValues).Set(o.minValuesPolicy) != nil:
		return fmt.Errorf("--min-values-policy (MIN_VALUES_POLICY) is %q: want Strict or BestEffort", o.minValuesPolicy)
	case !slices.Contains([]state.Offerings{state.AllOfferings, state.UsedOfferings, state.NoOfferings}, state.Offerings(o.offeringMetrics)):
		return fmt.Errorf("--offering-metrics (OFFERING_METRICS) is %q: want all, used or none", o.offeringMetrics)
	case o.payback != "on" && o.payback != "off":
		return fmt.Errorf("--payback (PAYBACK) is %q: want on or off", o.payback)
	case o.vmMemoryOverheadPercent < 0 || o.vmMemoryOverheadPercent >= 1:
		return fmt.Errorf("--vm-memory-overhead-percent (VM_MEMORY_OVERHEAD_PERCENT) is %v: want a share from 0 to below 1", o.vmMemoryOverheadPercent)
	case o.kubeQPS < 1:
		return fmt.Errorf("--kube-client-qps (KUBE_CLIENT_QPS) is %d: want 1 or more", o.kubeQPS)
	case o.kubeBurst < 1:
		return fmt.Errorf("--kube-client-burst (KUBE_CLIENT_BURST) is %d: want 1 or more", o.kubeBurst)
	case o.reservedENIs < 0:
		return fmt.Errorf("--reserved-enis (RESERVED_ENIS) is %d: want 0 or more", o.reservedENIs)
	case o.assumedRole.For < 15*time.Minute || o.assumedRole.For > 12*time.Hour:
		return fmt.Errorf("--assume-role-duration (ASSUME_ROLE_DURATION) is %v: want 15m to 12h, as AWS does",
			o.assumedRole.For)
	case o.amiEvery < class.RefreshEvery:
		return fmt.Errorf("--ami-refresh-interval (AMI_REFRESH_INTERVAL) is %v: want %v or more", o.amiEvery, class.RefreshEvery)
	case o.subnetEvery < class.RefreshEvery:
		return fmt.Errorf("--subnet-refresh-interval (SUBNET_REFRESH_INTERVAL) is %v: want %v or more", o.subnetEvery, class.RefreshEvery)
	case o.batchIdle <= 0 || o.batchMax < o.batchIdle:
		return fmt.Errorf("--batch-idle-duration %v and --batch-max-duration %v: want 0 < idle <= max", o.batchIdle, o.batchMax)
	}
	return nil
}

// portMax is the last port that there is.
const portMax = 65535

// checkPlaces checks ports, addresses and names of what lies elsewhere.
func (o *options) checkPlaces() error {
	for _, p := range []struct {
		flag string
		port int
	}{{"metrics-port", o.metricsPort}, {"health-probe-port", o.healthPort}, {"web-port", o.web.port}} {
		if p.port < 0 || p.port > portMax {
			return fmt.Errorf("--%s (%s) is %d: want a port up to %d, or 0 for none", p.flag, envName(p.flag), p.port, portMax)
		}
	}
	if o.metricsPort == o.healthPort && o.metricsPort != 0 {
		return fmt.Errorf("--metrics-port (METRICS_PORT) and --health-probe-port (HEALTH_PROBE_PORT) are both %d: want different ports", o.metricsPort)
	}
	for _, n := range []struct {
		flag, name string
		wrong      func(string) []string
	}{
		{"leader-election-name", o.leaderElectionName, validation.IsDNS1123Subdomain}, {"leader-election-namespace", o.leaderElectNS, validation.IsDNS1123Label},
		{"karpenter-service", o.service, validation.IsDNS1123Label},
	} {
		if n.name != "" && len(n.wrong(n.name)) > 0 {
			return fmt.Errorf("--%s (%s) is %q, which Kubernetes takes for no name: want lower case letters, digits and -", n.flag, envName(n.flag), n.name)
		}
	}
	if o.clusterEndpoint != "" {
		if u, err := url.Parse(o.clusterEndpoint); err != nil || !u.IsAbs() || u.Host == "" {
			return fmt.Errorf("--cluster-endpoint (CLUSTER_ENDPOINT) is %q: want a URL such as https://ID.gr7.eu-west-1.eks.amazonaws.com", o.clusterEndpoint)
		}
	}
	if _, err := base64.StdEncoding.DecodeString(o.clusterCABundle); err != nil {
		return fmt.Errorf("--cluster-ca-bundle (CLUSTER_CA_BUNDLE) is no base64; give certificateAuthority.data as EKS returns it: %w", err)
	}
	if o.assumedRole.ARN != "" && !roleARN.MatchString(o.assumedRole.ARN) {
		return fmt.Errorf("--assume-role-arn (ASSUME_ROLE_ARN) is %q: "+
			"want the ARN of a role, such as arn:aws:iam::123456789012:role/NAME", o.assumedRole.ARN)
	}
	if q := o.interruptionQueue; q != "" && !queueName.MatchString(q) {
		way := "which has up to 80 letters, digits, - and _"
		if name := q[strings.LastIndexAny(q, "/:")+1:]; name != q {
			way = fmt.Sprintf("not its URL or ARN; this one's is %q", name)
		}
		return fmt.Errorf("--interruption-queue (INTERRUPTION_QUEUE) is %q: want the name of an SQS queue in the cluster's region, %s", q, way)
	}
	return nil
}

// roleARN is how AWS names roles, in any partition.
var roleARN = regexp.MustCompile(`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`)

// queueName is how SQS names queues: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html.
var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}(\.fifo)?$`)

// reader defines flags whose defaults come from the environment.
type reader struct {
	flags *pflag.FlagSet
	env   func(string) string
	bad   error // the first variable that could not be read
}

func newReader(env func(string) string) *reader {
	return &reader{flags: pflag.NewFlagSet("daemok-controller", pflag.ContinueOnError), env: env}
}

// errVersion says that the command line asks for the version and nothing else.
var errVersion = errors.New("the version was asked for")

func (r *reader) read(args []string) error {
	asked := r.flags.Bool("version", false, "print version, commit and Go version, and end")
	if err := r.flags.Parse(args); err != nil {
		return misspelt.Flag(err, r.flags, "daemok-controller --help")
	}
	if *asked {
		return errVersion
	}
	if r.flags.NArg() > 0 {
		return fmt.Errorf("%q is no option: options begin with --, see --help", r.flags.Arg(0))
	}
	return r.bad
}

// value returns what the environment says for a flag, and under which name.
func (r *reader) value(flag string) (text, name string) {
	name = envName(flag)
	return r.env(name), name
}

// envName is the variable of a flag: METRICS_PORT for metrics-port.
func envName(flag string) string {
	out := []byte(flag)
	for i, c := range out {
		switch {
		case c == '-':
			out[i] = '_'
		case c >= 'a' && c <= 'z':
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out)
}

func fromEnv[T any](r *reader, flag string, otherwise T, parse func(string) (T, error)) T {
	text, name := r.value(flag)
	if text == "" {
		return otherwise
	}
	v, err := parse(text)
	if err != nil && r.bad == nil {
		r.bad = fmt.Errorf("environment variable %s is %q: %w", name, text, err)
	}
	return v
}

func (r *reader) text(p *string, flag, otherwise, usage string) {
	r.flags.StringVar(p, flag, fromEnv(r, flag, otherwise, func(s string) (string, error) { return s, nil }), usage)
}

func (r *reader) integer(p *int, flag string, otherwise int, usage string) {
	r.flags.IntVar(p, flag, fromEnv(r, flag, otherwise, strconv.Atoi), usage)
}

func (r *reader) integer64(p *int64, flag string, otherwise int64, usage string) {
	parse := func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
	r.flags.Int64Var(p, flag, fromEnv(r, flag, otherwise, parse), usage)
}

func (r *reader) float(p *float64, flag string, otherwise float64, usage string) {
	parse := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	r.flags.Float64Var(p, flag, fromEnv(r, flag, otherwise, parse), usage)
}

func (r *reader) duration(p *time.Duration, flag string, otherwise time.Duration, usage string) {
	r.flags.DurationVar(p, flag, fromEnv(r, flag, otherwise, time.ParseDuration), usage)
}

func (r *reader) boolean(p *bool, flag string, otherwise bool, usage string) {
	parse := func(s string) (bool, error) {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return false, errors.New("want true or false")
		}
		return v, nil
	}
	r.flags.BoolVar(p, flag, fromEnv(r, flag, otherwise, parse), usage)
}

// readGates reads the feature gates. Those that are not known are borne.
func (o *options) readGates() error {
	core, err := gates.Core(o.featureGates)
	if err != nil {
		return fmt.Errorf("--feature-gates (FEATURE_GATES) %w", err)
	}
	ofAWS, err := gates.AWS(o.awsFeatureGates)
	if err != nil {
		return fmt.Errorf("--aws-feature-gates (AWS_FEATURE_GATES) %w", err)
	}
	o.spotToSpot, o.nodeRepair, o.expressions = core.On(gates.SpotToSpot), core.On(gates.NodeRepair), ofAWS.On(gates.Expressions)
	o.static, o.overlays = core.On(gates.Static), core.On(gates.Overlay)
	o.buffers, o.requests = core.On(gates.Buffers), core.On(gates.Requests)
	o.quotas, o.commitments = core.On(gates.Quotas), core.On(gates.Commitments)
	o.reserved, o.olderDrift, o.saysDrift = core.On(gates.Reserved), core.On(gates.Drift), core.Said(gates.Drift)
	for _, text := range core.Unknown() {
		o.ignored = append(o.ignored, "FEATURE_GATES: "+text)
	}
	for _, text := range ofAWS.Unknown() {
		o.ignored = append(o.ignored, "AWS_FEATURE_GATES: "+text)
	}
	return nil
}
