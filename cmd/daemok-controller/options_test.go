package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestOptions(t *testing.T) {
	named := map[string]string{"CLUSTER_NAME": "prod"}
	with := func(more map[string]string) map[string]string {
		for k, v := range named {
			more[k] = v
		}
		return more
	}
	tests := map[string]struct {
		args []string
		env  map[string]string
		ok   func(o options) bool
	}{
		"SC-405 defaults are Karpenter's": {nil, named, func(o options) bool {
			return o.metricsPort == 8080 && o.healthPort == 8081 && o.batchIdle == time.Second && o.batchMax == 10*time.Second &&
				o.leaderElection && o.leaderElectionName == "karpenter-leader-election" && o.vmMemoryOverheadPercent == 0.075
		}},
		"SC-405 the environment sets what flags do not": {nil, with(map[string]string{"METRICS_PORT": "9000", "BATCH_IDLE_DURATION": "2s"}), func(o options) bool {
			return o.metricsPort == 9000 && o.batchIdle == 2*time.Second
		}},
		"SC-405 a flag wins over the environment":           {[]string{"--metrics-port=7000"}, with(map[string]string{"METRICS_PORT": "9000"}), func(o options) bool { return o.metricsPort == 7000 }},
		"SC-405 unknown gates and spaces between are borne": {[]string{"--feature-gates= NodeRepair=true, Foo=false,"}, named, func(o options) bool { return true }},
		"a boolean that is one is taken":                    {nil, with(map[string]string{"DISABLE_LEADER_ELECTION": "true"}), func(o options) bool { return !o.leaderElection }},
		"SC-405 a scheduler's default spreads": {nil, with(map[string]string{"SCHEDULER_CONFIG": "podTopologySpread: {defaultConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}"}), func(o options) bool {
			return len(o.defaultSpreads) == 1 && o.defaultSpreads[0].TopologyKey == "zone"
		}},
		"each machine costs what is declared":                               {nil, with(map[string]string{"MACHINE_COST": "0.0125"}), func(o options) bool { return o.instanceCost == 12500 }},
		"machines cost no more than AWS says, and surplus credits are used": {nil, named, func(o options) bool { return o.instanceCost == 0 && o.surplusCredits }},
		"surplus credits can be ruled out":                                  {nil, with(map[string]string{"SURPLUS_CREDITS": "false"}), func(o options) bool { return !o.surplusCredits }},
		"what was written for Cluster Autoscaler counts": {
			nil, with(map[string]string{"CLUSTER_AUTOSCALER_ANNOTATIONS": "true"}),
			func(o options) bool { return bool(o.poolDefaults().ClusterAutoscaler) },
		},
		"and nowhere else": {nil, named, func(o options) bool { return !bool(o.poolDefaults().ClusterAutoscaler) }},
		"ProvisioningRequests for one autoscaler": {
			nil, with(map[string]string{"PROCESSOR_INSTANCE": "blue"}),
			func(o options) bool { return o.processorInstance == "blue" },
		},
		"gates that do nothing are named": {[]string{"--feature-gates=Foo=false"}, with(map[string]string{"CPU_REQUESTS": "500"}), func(o options) bool {
			return slices.Equal(o.ignored, []string{"FEATURE_GATES: Foo is not known"}) && o.cpuRequests == 500
		}},
		"SC-405 images and subnets are looked up each minute": {nil, named, func(o options) bool { return o.amiEvery == time.Minute && o.subnetEvery == time.Minute }},
		"SC-405 or less often": {[]string{"--ami-refresh-interval=1h"}, with(map[string]string{"SUBNET_REFRESH_INTERVAL": "5m"}), func(o options) bool {
			return o.amiEvery == time.Hour && o.subnetEvery == 5*time.Minute && len(o.ignored) == 0
		}},
		"kubelet settings may hold no expressions":           {nil, named, func(o options) bool { return !o.expressions }},
		"a gate lets them hold expressions":                  {nil, with(map[string]string{"AWS_FEATURE_GATES": "NodeClassCEL=true"}), func(o options) bool { return o.expressions && len(o.ignored) == 0 }},
		"SC-405 spot instances are left alone":               {nil, named, func(o options) bool { p := o.policy(); return !p.Disruption.SpotToSpot && !p.Disruption.EverySaving }},
		"SC-405 a gate lets spot instances replace others":   {[]string{"--feature-gates=SpotToSpotConsolidation=true"}, named, func(o options) bool { return o.policy().Disruption.SpotToSpot && len(o.ignored) == 0 }},
		"nodes of Provisioners do not drift":                 {nil, named, func(o options) bool { return !o.olderDrift }},
		"SC-405 a gate has them drift":                       {nil, with(map[string]string{"FEATURE_GATES": "Drift=true"}), func(o options) bool { return o.olderDrift && len(o.ignored) == 0 }},
		"no node is repaired by itself":                      {nil, named, func(o options) bool { return len(o.repair().Rules) == 0 }},
		"SC-405 reservations are used unless a gate says no": {nil, named, func(o options) bool { return o.reserved }},
		"SC-405 a gate leaves reservations alone":            {[]string{"--feature-gates=ReservedCapacity=false"}, named, func(o options) bool { return !o.reserved && len(o.ignored) == 0 }},
		"SC-405 a gate has nodes repaired":                   {[]string{"--feature-gates=NodeRepair=true"}, named, func(o options) bool { return len(o.repair().Rules) == 7 && len(o.ignored) == 0 }},
		"every saving counts where payback is off":           {nil, with(map[string]string{"PAYBACK": "off"}), func(o options) bool { return o.policy().Disruption.EverySaving }},
		"logs go where they are sent to": {[]string{"--log-output-paths=stdout,/var/log/daemok"}, with(map[string]string{"LOG_ERROR_OUTPUT_PATHS": "stderr", "LOG_ENCODING": "console"}), func(o options) bool {
			return o.logPaths == "stdout,/var/log/daemok" && o.logErrorPaths == "stderr" && o.logEncoding == encodingConsole
		}},
		"a queue for interruption messages is read": {nil, with(map[string]string{"INTERRUPTION_QUEUE": "q"}), func(o options) bool {
			return o.interruptionQueue == "q" && len(o.ignored) == 0
		}},
		"nothing is named that nobody gave": {[]string{"--log-level=debug"}, named, func(o options) bool { return len(o.ignored) == 0 }},
		"what Karpenter's chart says is taken": {nil, with(map[string]string{"KARPENTER_SERVICE": "karpenter", "CPU_REQUESTS": "0", "IGNORE_DRA_REQUESTS": "true", "DISABLE_CONTROLLER_WARMUP": "false"}), func(o options) bool {
			return o.service == "karpenter" && o.cpuRequests == 0 && len(o.ignored) == 0
		}},
		"options of the older generation are named": {[]string{"--aws-node-name-convention=ip-name", "--aws-isolated-vpc"}, with(map[string]string{"LEADER_ELECT": "false", "DISABLE_WEBHOOK": "true"}), func(o options) bool {
			return slices.Equal(o.older, []string{"aws-isolated-vpc", "aws-node-name-convention", "disable-webhook", "leader-elect"}) && len(o.ignored) == 0 && !o.isolatedVPC && o.leaderElection
		}},
		"nodes are told to empty":               {nil, named, func(o options) bool { return o.steering }},
		"nodes need not be told to empty":       {nil, with(map[string]string{"STEERING": "false"}), func(o options) bool { return !o.steering && len(o.ignored) == 0 }},
		"metrics have their older names too":    {nil, named, func(o options) bool { return o.legacyMetrics }},
		"metrics need not have the older names": {nil, with(map[string]string{"LEGACY_METRICS": "false"}), func(o options) bool { return !o.legacyMetrics && len(o.ignored) == 0 }},
		"nobody asks for zonal shifts":          {nil, named, func(o options) bool { return !o.zonalShift }},
		"commitments are read of no account": {nil, named,
			func(o options) bool { return o.commitments && !o.readsCommitments() }},
		"commitments are read of the account": {[]string{"--account-commitments"}, named,
			func(o options) bool { return o.readsCommitments() && len(o.ignored) == 0 }},
		"commitments have no effect, and are not read": {nil,
			with(map[string]string{"ACCOUNT_COMMITMENTS": "true", "FEATURE_GATES": "Commitments=false"}),
			func(o options) bool { return !o.readsCommitments() }},
		"zonal shifts are asked for": {nil, with(map[string]string{"ENABLE_ZONAL_SHIFT": "true"}), func(o options) bool { return o.zonalShift && len(o.ignored) == 0 }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := readOptions(tt.args, func(k string) string { return tt.env[k] })
			if err != nil || !tt.ok(o) {
				t.Errorf("readOptions(%v, %v) = %+v, %v", tt.args, tt.env, o, err)
			}
		})
	}
}

func TestBadOptionsNameTheWayOut(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		says string
	}{
		"no cluster name":                              {nil, nil, "CLUSTER_NAME"},
		"SC-405 an unknown log level":                  {[]string{"--log-level=loud"}, map[string]string{"CLUSTER_NAME": "c"}, "LOG_LEVEL"},
		"a variable that is no number":                 {nil, map[string]string{"CLUSTER_NAME": "c", "METRICS_PORT": "x"}, "METRICS_PORT"},
		"a policy that does not exist":                 {[]string{"--min-values-policy=Maybe"}, map[string]string{"CLUSTER_NAME": "c"}, "Strict or BestEffort"},
		"a policy for preferences that does not exist": {[]string{"--preference-policy=Always"}, map[string]string{"CLUSTER_NAME": "c"}, "Weigh, Respect or Ignore"},
		"a worth of nothing":                           {[]string{"--preference-worth=0"}, map[string]string{"CLUSTER_NAME": "c"}, "a share above 0"},
		"a window that ends before idle":               {[]string{"--batch-max-duration=1ms"}, map[string]string{"CLUSTER_NAME": "c"}, "idle <= max"},
		"a share above one":                            {[]string{"--vm-memory-overhead-percent=7.5"}, map[string]string{"CLUSTER_NAME": "c"}, "VM_MEMORY_OVERHEAD_PERCENT"},
		"SC-405 a bad default spread":                  {[]string{"--scheduler-config=podTopologySpread: {defaultConstraints: [{topologyKey: zone}]}"}, map[string]string{"CLUSTER_NAME": "c"}, "SCHEDULER_CONFIG"},
		"a cost that is no number":                     {nil, map[string]string{"CLUSTER_NAME": "c", "MACHINE_COST": "$1"}, `MACHINE_COST): "$1" is no cost: want US dollars an hour`},
		"a form of logs that is none":                  {[]string{"--log-encoding=xml"}, map[string]string{"CLUSTER_NAME": "c"}, `LOG_ENCODING) is "xml": want json or console`},
		"standbys that are cold":                       {nil, map[string]string{"CLUSTER_NAME": "c", "DISABLE_CONTROLLER_WARMUP": "true"}, "always warm; leave it out"},
		"less than no processor":                       {nil, map[string]string{"CLUSTER_NAME": "c", "CPU_REQUESTS": "-1"}, "CPU_REQUESTS) is -1"},
		"a word that is no flag":                       {[]string{"run"}, map[string]string{"CLUSTER_NAME": "c"}, `"run" is no option`},
		"a boolean that is none":                       {nil, map[string]string{"CLUSTER_NAME": "c", "DISABLE_LEADER_ELECTION": "maybe"}, `DISABLE_LEADER_ELECTION is "maybe": want true or false`},
		"SC-405 a gate without a switch":               {[]string{"--feature-gates=NodeRepair=true,Foo"}, map[string]string{"CLUSTER_NAME": "c"}, `FEATURE_GATES) has "Foo": want Name=true`},
		"an AWS gate that is neither":                  {nil, map[string]string{"CLUSTER_NAME": "c", "AWS_FEATURE_GATES": "NodeClassCEL"}, `AWS_FEATURE_GATES) has "NodeClassCEL"`},
		"a gate that is neither":                       {nil, map[string]string{"CLUSTER_NAME": "c", "FEATURE_GATES": "Foo=maybe"}, `has "Foo=maybe"`},
		"SC-405 images looked up all the time":         {[]string{"--ami-refresh-interval=1s"}, map[string]string{"CLUSTER_NAME": "c"}, "AMI_REFRESH_INTERVAL) is 1s: want 1m0s or more"},
		"SC-405 subnets looked up all the time":        {nil, map[string]string{"CLUSTER_NAME": "c", "SUBNET_REFRESH_INTERVAL": "59s"}, "SUBNET_REFRESH_INTERVAL) is 59s: want 1m0s or more"},
		"SC-405 a least Kubernetes that is none":       {nil, map[string]string{"CLUSTER_NAME": "c", "KUBERNETES_MIN_VERSION": "new"}, `KUBERNETES_MIN_VERSION is "new"`},
		"a queue by its URL":                           {nil, map[string]string{"CLUSTER_NAME": "c", "INTERRUPTION_QUEUE": "https://sqs.eu-west-1.amazonaws.com/123456789012/prod"}, `INTERRUPTION_QUEUE) is "https://sqs.eu-west-1.amazonaws.com/123456789012/prod": want the name of an SQS queue in the cluster's region, not its URL or ARN; this one's is "prod"`},
		"a queue by its ARN, of another region":        {[]string{"--interruption-queue=arn:aws:sqs:eu-west-1:123456789012:prod"}, map[string]string{"CLUSTER_NAME": "c", "AWS_REGION": "us-east-1"}, `in the cluster's region, not its URL or ARN; this one's is "prod"`},
		"a queue of a name that none can have":         {[]string{"--interruption-queue=my queue"}, map[string]string{"CLUSTER_NAME": "c"}, `is "my queue": want the name of an SQS queue in the cluster's region, which has up to 80 letters, digits, - and _`},
		"no requests to the API server":                {[]string{"--kube-client-qps=0"}, map[string]string{"CLUSTER_NAME": "c"}, "KUBE_CLIENT_QPS) is 0: want 1 or more"},
		"less than no requests at once":                {nil, map[string]string{"CLUSTER_NAME": "c", "KUBE_CLIENT_BURST": "-3"}, "KUBE_CLIENT_BURST) is -3: want 1 or more"},
		"a namespace that none can be":                 {[]string{"--leader-election-namespace=Kube_System"}, map[string]string{"CLUSTER_NAME": "c"}, `LEADER_ELECTION_NAMESPACE) is "Kube_System", which Kubernetes takes for no name`},
		"a lease that none can be":                     {nil, map[string]string{"CLUSTER_NAME": "c", "LEADER_ELECTION_NAME": "My Lease"}, `LEADER_ELECTION_NAME) is "My Lease", which Kubernetes takes for no name`},
		"a Service that none can be":                   {nil, map[string]string{"CLUSTER_NAME": "c", "KARPENTER_SERVICE": "karpenter.kube-system"}, `KARPENTER_SERVICE) is "karpenter.kube-system", which Kubernetes takes for no name`},
		"a flag that is misspelt":                      {[]string{"--log-levl=info"}, map[string]string{"CLUSTER_NAME": "c"}, "unknown flag: --log-levl: did you mean --log-level?"},
		"a flag nobody knows":                          {[]string{"--no-such-flag"}, map[string]string{"CLUSTER_NAME": "c"}, "no-such-flag"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readOptions(tt.args, func(k string) string { return tt.env[k] })
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("readOptions(%v, %v) = %v; want it to say %q", tt.args, tt.env, err, tt.says)
			}
		})
	}
}

// A container that asks for more of a processor has more objects examined at once; what is to be
// done one after the other stays so.
func TestLoopsGoByTheProcessorsAskedFor(t *testing.T) {
	for _, tt := range []struct{ usual, cpu, want int }{
		{100, 1000, 100}, {100, 250, 25}, {100, 4000, 400}, {100, 64000, 1000}, {10, 50, 1}, {10, 0, 10}, {1, 8000, 1},
	} {
		if got := workersOf(tt.usual, tt.cpu); got != tt.want {
			t.Errorf("of %d workers at %d thousandths of a core there are %d, want %d", tt.usual, tt.cpu, got, tt.want)
		}
	}
}

// It is asked where nothing else is set, such as in an image that was just built.
func TestTheVersionIsReportedWithoutSettings(t *testing.T) {
	tests := map[string]struct {
		args []string
		want bool
	}{
		"asked":                     {[]string{"--version"}, true},
		"asked beside other things": {[]string{"--metrics-port=1", "--version"}, true},
		"not asked":                 {[]string{"--version=false"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readOptions(tt.args, func(string) string { return "" })
			if errors.Is(err, errVersion) != tt.want {
				t.Errorf("readOptions(%q) = %v; want that it asks for the version: %t", tt.args, err, tt.want)
			}
		})
	}
}

// wrong are values that no option of the kind takes. Those that are empty take any text: it is
// seen elsewhere whether there is such a thing.
var wrong = map[string]string{
	"metrics-port": "70000", "health-probe-port": "-1", "kube-client-qps": "many", "kube-client-burst": "1.5", "disable-leader-election": "maybe",
	"leader-election-name": "", "leader-election-namespace": "", "memory-limit": "1Gi", "cpu-requests": "-1", "log-level": "loud", "log-encoding": "xml",
	"log-output-paths": "", "log-error-output-paths": "", "batch-max-duration": "10", "batch-idle-duration": "-1s", "preference-policy": "Always", "nominate-pods": "maybe",
	"preference-worth": "0", "min-values-policy": "Maybe", "scheduler-config": "podTopologySpread: {defaultConstraints: [{topologyKey: zone}]}",
	"feature-gates": "NodeRepair", "payback": "yes", "steering": "some", "enable-profiling": "2", "disable-cluster-state-observability": "no way", "offering-metrics": "some",
	"legacy-metrics": "old", "enable-tracing": "grpc", "web-port": "70000", "web-exposed": "true", "cluster-name": "", "cluster-endpoint": "ID.gr7.eu-west-1.eks.amazonaws.com", "cluster-ca-bundle": "-----BEGIN CERTIFICATE-----",
	"aws-feature-gates": "NodeClassCEL", "isolated-vpc": "private", "enable-zonal-shift": "a",
	"account-commitments": "a", "eks-control-plane": "eks", "vm-memory-overhead-percent": "7.5",
	"interruption-queue": "https://sqs.eu-west-1.amazonaws.com/123456789012/prod", "assume-role-arn": "nodes", "assume-role-duration": "1m", "reserved-enis": "-1", "machine-cost": "$1", "min-pod-memory": "some",
	"max-system-memory": "half", "surplus-credits": "none", "cluster-autoscaler-annotations": "some", "disable-dry-run": "dry", "ami-refresh-interval": "1s", "subnet-refresh-interval": "hourly",
	"shadow": "dark", "shadow-manifests": "pools", "shadow-nodes": "group=web", "shadow-file": "history.gz", // without --shadow
	"karpenter-service": "", "processor-instance": "",
	"disable-controller-warmup": "true", "ignore-dra-requests": "perhaps",
}

// Each option is refused where its value is wrong, on the command line and in the environment,
// in one line that names it.
func TestEveryOptionRefusesAWrongValue(t *testing.T) {
	r := newReader(func(string) string { return "" })
	r.define(new(options))
	r.flags.VisitAll(func(f *pflag.Flag) {
		if _, older := olderOptions[f.Name]; older {
			return
		}
		value, listed := wrong[f.Name]
		if !listed {
			t.Errorf("--%s: this test has no wrong value for it", f.Name)
		}
		if value == "" {
			return
		}
		for how, read := range map[string]func() error{
			"as a flag": func() error {
				_, err := readOptions([]string{"--cluster-name=c", "--" + f.Name + "=" + value}, func(string) string { return "" })
				return err
			},
			"as a variable": func() error {
				_, err := readOptions([]string{"--cluster-name=c"}, func(name string) string {
					if name == envName(f.Name) {
						return value
					}
					return ""
				})
				return err
			},
		} {
			err := read()
			if err == nil || !strings.Contains(err.Error(), "--"+f.Name) && !strings.Contains(err.Error(), envName(f.Name)) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %s is %q: %v; want one line that names it", f.Name, how, value, err)
			}
		}
	})
}

func TestPortsThatAreTheSame(t *testing.T) {
	for ports, want := range map[string]bool{"8080": false, "0": true} {
		_, err := readOptions([]string{"--cluster-name=c", "--metrics-port=" + ports, "--health-probe-port=" + ports}, func(string) string { return "" })
		if (err == nil) != want {
			t.Errorf("both ports are %s: %v", ports, err)
		}
	}
}
