package fleet

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/offering"
)

var update = flag.Bool("update", false, "rewrite the expected files")

// write prints what is sent for an order, without what is not set.
func write(t *testing.T, o order) string {
	t.Helper()
	var b strings.Builder
	for _, x := range o.templates {
		fmt.Fprintf(&b, "template %s\n%s\n", x.name, indent(t, x.data))
		text, err := base64.StdEncoding.DecodeString(aws.ToString(x.data.UserData))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "user data of %s\n%s\n", x.name, text)
	}
	fmt.Fprintf(&b, "fleet\n%s\n", indent(t, o.fleet))
	return b.String()
}

func indent(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var any any
	if err := json.Unmarshal(raw, &any); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(prune(any), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func prune(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, inner := range x {
			if inner == nil || inner == "" {
				delete(x, k)
				continue
			}
			x[k] = prune(inner)
		}
	case []any:
		for i := range x {
			x[i] = prune(x[i])
		}
	}
	return v
}

// everySetting has a class say something of all that it can.
func everySetting(r *Request) {
	number := func(n int32) *int32 { return &n }
	r.Launch.Options = r.Launch.Options[:1]
	s := &r.Class.Spec
	s.Metadata = nodeclass.Metadata{Endpoint: "enabled", IPv6: "enabled", Tokens: "optional", HopLimit: 3}
	s.DetailedMonitored, s.NestedVirtual, s.Context, s.IPPrefixes, s.PublicIP = true, "enabled", "ctx", number(2), aws.Bool(false)
	s.Tracking = &nodeclass.Tracking{TCPEstablished: number(350), UDP: number(30)}
	s.Interfaces = []nodeclass.Interface{{Type: "interface"}, {Card: 1, Device: 1, Type: "efa-only"}}
	s.BlockDevices = []nodeclass.BlockDevice{{DeviceName: "/dev/xvda", Root: true, EBS: &nodeclass.EBS{
		DeleteOnTermination: aws.Bool(false), Encrypted: aws.Bool(true), IOPS: aws.Int64(4000), Throughput: aws.Int64(200),
		InitializationRate: number(150), KMSKeyID: "key", SnapshotID: "snap-1", VolumeType: "gp3", VolumeBytes: 64_000_000_001}}}
	s.InstanceStore, s.UserData = nodeclass.RAID0, "#!/bin/bash\ntrue\n"
	r.Cluster.DNS = "fd00::a"
}

// Each file in testdata is all that is sent to EC2 for one request.
func TestBuild(t *testing.T) {
	tests := map[string]func(*Request){
		"spot": nil,
		"on-demand": func(r *Request) {
			for i := range r.Launch.Options {
				r.Launch.Options[i].Option = cluster.OnDemand
			}
			r.Launch.Options, r.Launch.Count, r.Class.Spec.PublicIP = r.Launch.Options[:1], 5, aws.Bool(false)
		},
		"every-setting": everySetting,
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := build(request(t, change))
			if err != nil {
				t.Fatal(err)
			}
			got := write(t, o)
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("what is sent differs (run with -update, then read the diff)\n got:\n%s", got)
			}
			if again, _ := build(request(t, change)); write(t, again) != got {
				t.Error("two orders of one request differ: EC2 would not know its token again")
			}
		})
	}
}

func TestTemplatesAreOthersOnlyWhereTheyMustBe(t *testing.T) {
	nameOf := func(change func(*Request)) string {
		o, err := build(request(t, func(r *Request) {
			r.Launch.Options = r.Launch.Options[:1]
			if change != nil {
				change(r)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		return o.templates[0].name
	}
	plain := nameOf(nil)
	same := map[string]func(*Request){
		"another batch":      func(r *Request) { r.Launch.Batch, r.Launch.Token = "batch-2", "token-2" },
		"another count":      func(r *Request) { r.Launch.Count = 7 },
		"another subnet":     func(r *Request) { r.Subnets[0].ID = "subnet-z" },
		"a tag of one claim": func(r *Request) { r.Launch.Tags["karpenter.sh/nodeclaim"] = "web-abcde" },
	}
	for what, change := range same {
		if nameOf(change) != plain {
			t.Errorf("%s needs another template", what)
		}
	}
	other := map[string]func(*Request){
		"another image":   func(r *Request) { r.Class.Resolved.Images[0].ID = "ami-new" },
		"another group":   func(r *Request) { r.Class.Resolved.Groups[0].ID = "sg-9" },
		"another profile": func(r *Request) { r.Class.Resolved.Profile = "p" },
		"another pool":    func(r *Request) { r.Launch.Tags["karpenter.sh/nodepool"] = "db" },
		"another taint":   func(r *Request) { r.Launch.Node.Taints = nil },
		"another label":   func(r *Request) { r.Launch.Node.Labels = map[string]string{"a": "b"} },
		"on-demand":       func(r *Request) { r.Launch.Options[0].Option = cluster.OnDemand },
		"another tag":     func(r *Request) { r.Class.Spec.Tags = map[string]string{"team": "db"} },
		"a kubelet limit": func(r *Request) {
			r.Class.Spec.Kubelet.MaxPods = aws.Int64(10)
			r.Kinds = catalog.For([]catalog.Type{kindType("m5.large", "amd64", 3)}, r.Class, catalog.Settings{})
		},
	}
	for what, change := range other {
		if nameOf(change) == plain {
			t.Errorf("%s keeps the old template", what)
		}
	}
}

// The first interface's prefixes are of the addresses that pods have.
func TestPrefixesAreOfTheAddressesThatPodsHave(t *testing.T) {
	for network, want := range map[string]string{"10.100.0.0/16": "IPv4 2, IPv6 0", "fd30:1::/108": "IPv4 0, IPv6 2"} {
		o, err := build(request(t, func(r *Request) { r.Class.Spec.IPPrefixes, r.Cluster.CIDR, r.Cluster.DNS = aws.Int32(2), network, "" }))
		if err != nil {
			t.Fatal(err)
		}
		first := o.templates[0].data.NetworkInterfaces[0]
		if got := fmt.Sprintf("IPv4 %d, IPv6 %d", aws.ToInt32(first.Ipv4PrefixCount), aws.ToInt32(first.Ipv6PrefixCount)); got != want {
			t.Errorf("SC-446 in a cluster of %s the prefixes are %s; want %s", network, got, want)
		}
	}
}

// An instance has EFA adapters only where it is launched with them: those whose pods ask for
// them are launched from a template of their own.
func TestAdaptersOfTheFabricAreAttachedForWhoAsks(t *testing.T) {
	tests := map[string]struct {
		asks []string
		own  []nodeclass.Interface
		want string
	}{
		"nobody asks":                  {nil, nil, "interface"},
		"a GPU is asked for":           {[]string{"nvidia.com/gpu"}, nil, "interface"},
		"EFA is asked for":             {[]string{"nvidia.com/gpu", "vpc.amazonaws.com/efa"}, nil, "efa efa"},
		"the class lists its own ones": {[]string{"vpc.amazonaws.com/efa"}, []nodeclass.Interface{{Type: "interface"}, {Card: 1, Device: 1, Type: "efa-only"}}, "interface efa-only"},
	}
	for name, tt := range tests {
		o, err := build(request(t, func(r *Request) {
			kind := kindType("m5.large", "amd64", 3)
			kind.EFAs, kind.CardENIs = 2, []int64{3, 3}
			r.Class.Spec.Interfaces, r.Launch.Extended = tt.own, tt.asks
			r.Kinds = catalog.For([]catalog.Type{kind}, r.Class, catalog.Settings{})
		}))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range o.templates[0].data.NetworkInterfaces {
			got = append(got, *i.InterfaceType)
		}
		if strings.Join(got, " ") != tt.want || len(o.templates) != 1 {
			t.Errorf("SC-446 %s: %d templates, the first with %v; want %s", name, len(o.templates), got, tt.want)
		}
	}
}

// Nitro Enclaves are enabled on instances that are launched for pods that ask for them, and on no others.
func TestEnclavesAreEnabledForWhoAsks(t *testing.T) {
	for asks, want := range map[string]bool{"nvidia.com/gpu": false, catalog.ResourceEnclaves: true} {
		o, err := build(request(t, func(r *Request) { r.Launch.Extended = []string{asks} }))
		if err != nil {
			t.Fatal(err)
		}
		options := o.templates[0].data.EnclaveOptions
		if got := options != nil && aws.ToBool(options.Enabled); got != want {
			t.Errorf("SC-452 for a pod that asks for %s enclaves are enabled: %t, want %t", asks, got, want)
		}
	}
}

// What a class says to EC2 of the launch stands for the variety that was asked for.
func TestTheContextIsPassedOnUnlessLessIsNamed(t *testing.T) {
	for relaxed, want := range map[bool]string{false: "ctx", true: ""} {
		o, err := build(request(t, func(r *Request) { r.Class.Spec.Context, r.Launch.Relaxed = "ctx", relaxed }))
		if err != nil {
			t.Fatal(err)
		}
		if got := aws.ToString(o.fleet.Context); got != want {
			t.Errorf("SC-411 relaxed %v: context %q, want %q", relaxed, got, want)
		}
	}
}

func TestBuildLimitsItself(t *testing.T) {
	r := request(t, func(r *Request) {
		var all []catalog.Type
		r.Launch.Options = nil
		for i := range 100 {
			name := fmt.Sprintf("t%02d.large", i)
			all = append(all, kindType(name, "amd64", 3))
			for _, s := range r.Subnets {
				r.Launch.Options = append(r.Launch.Options, cloud.OfferingChoice{Kind: name, Zone: s.Zone, Option: cluster.Spot, Priority: float64(i)})
			}
		}
		r.Kinds = catalog.For(all, r.Class, catalog.Settings{})
	})
	o, err := build(r)
	if err != nil {
		t.Fatal(err)
	}
	overrides := o.fleet.LaunchTemplateConfigs[0].Overrides
	if len(overrides) != 2*offering.TypesMax || overrides[0].InstanceType != "t00.large" {
		t.Errorf("%d overrides, first %s; want the first %d types in 2 zones", len(overrides), overrides[0].InstanceType, offering.TypesMax)
	}
}

func TestOwnTagsCannotBeReplaced(t *testing.T) {
	o, err := build(request(t, func(r *Request) {
		r.Launch.Tags["kubernetes.io/cluster/prod"], r.Launch.Tags["karpenter.k8s.aws/ec2nodeclass"] = "shared", "x"
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range o.fleet.TagSpecifications[0].Tags {
		if *tag.Key == "kubernetes.io/cluster/prod" && *tag.Value != "owned" || *tag.Key == "karpenter.k8s.aws/ec2nodeclass" && *tag.Value != "default" {
			t.Errorf("tag %s=%s", *tag.Key, *tag.Value)
		}
	}
}

// By the UID of its cluster an instance is told from those of another cluster of the name.
func TestInstancesAndTemplatesCarryTheUIDOfTheCluster(t *testing.T) {
	uid := "4c1a5ee9-5b3f-4e60-8f8e-2f4e7d1b0c11"
	r := request(t, func(r *Request) { r.Cluster.UID, r.Launch.Tags["daemok.sh/cluster-uid"] = uid, "x" })
	for what, tags := range map[string]map[string]string{"machines": allTags(r), "templates": lastingTags(r)} {
		if tags["daemok.sh/cluster-uid"] != uid {
			t.Errorf("%s carry %v", what, tags)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*Request)
		reason string // empty: no capacity
	}{
		"zones without a subnet":     {func(r *Request) { r.Subnets = nil }, ""},
		"types without an image":     {func(r *Request) { r.Kinds = &catalog.Kinds{} }, ""},
		"no service network":         {func(r *Request) { r.Cluster.CIDR = "" }, "ClusterCIDRResolutionFailed"},
		"user data beyond the limit": {func(r *Request) { r.Class.Spec.UserData = strings.Repeat("x", 20<<10) }, "UserDataSizeLimitExceeded"},
		"user data that is no TOML": {func(r *Request) {
			r.Class.Spec.Family, r.Class.Spec.UserData = nodeclass.Bottlerocket, "echo no"
		}, "LaunchFailed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := build(request(t, tt.change))
			refused, ok := errors.AsType[*cloud.RefusedError](err)
			if tt.reason == "" {
				if short, ok := errors.AsType[*cloud.NoCapacityError](err); !ok || len(short.Offerings) != 4 {
					t.Errorf("build = %v, want all offers named", err)
				}
				return
			}
			if !ok || refused.Reason != tt.reason {
				t.Errorf("build = %v, want %s", err, tt.reason)
			}
		})
	}
}

func TestRetryTokensDifferAndFit(t *testing.T) {
	long := strings.Repeat("a", tokenMax)
	if retryToken(long, 0) != long || len(retryToken(long, 1)) != tokenMax || retryToken(long, 1) == retryToken(long, 2) || retryToken("a", 1) != "a-1" {
		t.Errorf("retryToken = %s, %s", retryToken(long, 1), retryToken("a", 1))
	}
}

// Types whose kubelets are told the same share a template, whatever the
// expressions that the amounts come from.
func TestExpressionsAreWorkedOutByType(t *testing.T) {
	kubelet, err := nodeclass.ParseKubelet([]byte(`{"maxPods":"min(max_pods, 29)","kubeReserved":{"cpu":"instance_type.startsWith('m6g') ? 50 : 70"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, nil)
	r.Class.Spec.Kubelet = kubelet
	r.Kinds = catalog.For([]catalog.Type{kindType("m5.large", "amd64", 3), kindType("m5.xlarge", "amd64", 4), kindType("m6g.large", "arm64", 3)},
		r.Class, catalog.Settings{})
	o, err := build(r)
	if err != nil {
		t.Fatal(err)
	}
	var reserved []string
	for i, x := range o.templates {
		text, err := base64.StdEncoding.DecodeString(aws.ToString(x.data.UserData))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "maxPods: 29\n") || strings.Contains(string(text), "max_pods") {
			t.Errorf("machines of template %d read\n%s", i, text)
		}
		_, amount, _ := strings.Cut(string(text), "kubeReserved:\n        cpu: ")
		amount, _, _ = strings.Cut(amount, "\n")
		for _, override := range o.fleet.LaunchTemplateConfigs[i].Overrides {
			reserved = append(reserved, string(override.InstanceType)+" "+amount)
		}
	}
	if got, want := strings.Join(reserved, ", "), "m5.large 70m, m5.xlarge 70m, m5.large 70m, m6g.large 50m"; got != want {
		t.Errorf("reserved: %s; want %s", got, want)
	}
}

// Types that hold different numbers of pods need a template each. The cheapest have
// one, and those that variety needs, as far as EC2 takes so many.
func TestAFleetHasTemplatesForTheCheapestAndWhatVarietyNeeds(t *testing.T) {
	kubelet, err := nodeclass.ParseKubelet([]byte(`{"maxPods":"max_pods"}`))
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, nil)
	r.Class.Spec.Kubelet, r.Launch.Options = kubelet, nil
	var kinds []catalog.Type
	for i := range templatesMax + 5 {
		kinds = append(kinds, kindType(fmt.Sprintf("k%03d.large", i), "amd64", int64(i)+1))
		r.Launch.Options = append(r.Launch.Options, cloud.OfferingChoice{Kind: kinds[i].Name, Zone: "us-east-1a", Option: cluster.Spot, Priority: float64(i)})
	}
	r.Kinds = catalog.For(kinds, r.Class, catalog.Settings{})
	tests := map[string]struct {
		needed    func(i int) bool
		templates int
		last      string // the most expensive type
	}{
		"nothing is needed":           {func(int) bool { return false }, templatesUsual, "k007.large"},
		"an expensive type is needed": {func(i int) bool { return i == 50 }, templatesUsual, "k050.large"},
		"twenty are needed":           {func(i int) bool { return i >= 20 && i < 40 }, 20, "k039.large"},
		"more are needed than can be": {func(int) bool { return true }, templatesMax, "k049.large"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for i := range r.Launch.Options {
				r.Launch.Options[i].Needed = tt.needed(i)
			}
			o, err := build(r)
			if err != nil {
				t.Fatal(err)
			}
			if last := o.offerings[len(o.offerings)-1].Kind; len(o.templates) != tt.templates || last != tt.last {
				t.Errorf("%d templates, the last for %s; want %d, the last for %s", len(o.templates), last, tt.templates, tt.last)
			}
			for i, c := range r.Launch.Options {
				if c.Needed && i < templatesMax && !slices.Contains(o.offerings, c) {
					t.Errorf("%s is needed and left out", c.Kind)
				}
			}
		})
	}
}

// Instances of an IPv6 cluster have such an address from the start, also where the DNS
// service has another name than the usual one.
func TestInstancesOfAnIPv6ClusterHaveSuchAnAddress(t *testing.T) {
	for name, tt := range map[string]struct {
		dns, cidr string
		want      bool
	}{
		"IPv4":                          {"10.100.0.10", "10.100.0.0/16", false},
		"IPv6":                          {"fd00::a", "fd00::/108", true},
		"IPv6, and no DNS that we know": {"", "fd00::/108", true},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := build(request(t, func(r *Request) { r.Cluster.DNS, r.Cluster.CIDR = tt.dns, tt.cidr }))
			if err != nil {
				t.Fatal(err)
			}
			if i := o.templates[0].data.NetworkInterfaces[0]; aws.ToBool(i.PrimaryIpv6) != tt.want || aws.ToInt32(i.Ipv6AddressCount) > 0 != tt.want {
				t.Errorf("the first interface is %+v; want an address of IPv6: %v", i, tt.want)
			}
		})
	}
}
