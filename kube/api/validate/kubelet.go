package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	strictjson "sigs.k8s.io/json"

	"github.com/daemok/daemok/internal/expression"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
)

// kubelet checks the configuration of a kubelet for nodes of a family. What nodes of the family
// Custom are configured with is the user's own business.
func (f *findings) kubelet(field string, k *awsv1.Kubelet, family awsv1.AMIFamily, o ClassOptions) {
	f.expressions(field, k, o)
	f.evictions(field, k)
	f.addresses(field, k.ClusterDNS)
	f.imageThresholds(field, k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent)
	f.further(field, k)
	if family != awsv1.FamilyCustom {
		f.unsupported(field, k, family)
	}
}

// addresses checks those of DNS servers.
func (f *findings) addresses(field string, servers []string) {
	for i, address := range servers {
		if _, err := netip.ParseAddr(address); err != nil {
			f.invalidKubelet(fmt.Sprintf("%s.clusterDNS[%d]", field, i), "%q is no IP address", address)
		}
	}
}

// What a kubelet takes where one of the thresholds is not set.
const imageGCHigh, imageGCLow = 85, 80

// imageThresholds refuses thresholds with which no kubelet starts: it compares the one
// that is set with its own default of the other.
func (f *findings) imageThresholds(field string, high, low *int32) {
	const lower, higher = "imageGCLowThresholdPercent", "imageGCHighThresholdPercent"
	switch {
	case high != nil && low != nil && *high <= *low:
		f.invalidKubelet(field+"."+higher, "%d must be greater than %s, which is %d", *high, lower, *low)
	case high != nil && low == nil && *high <= imageGCLow:
		f.invalidKubelet(field+"."+higher, "%d must be greater than %s, which is %d where it is not set: set it below %d", *high, lower, imageGCLow, *high)
	case high == nil && low != nil && *low >= imageGCHigh:
		f.invalidKubelet(field+"."+lower, "%d must be less than %s, which is %d where it is not set: set it above %d", *low, higher, imageGCHigh, *low)
	}
}

// graces checks the lengths of time for which soft thresholds are borne.
func (f *findings) graces(field string, periods map[string]string) {
	for _, signal := range slices.Sorted(maps.Keys(periods)) {
		if length, err := time.ParseDuration(periods[signal]); err != nil || length < 0 {
			f.invalidKubelet(field+".evictionSoftGracePeriod["+signal+"]", "%q is no length of time, write one such as 1m30s", periods[signal])
		}
	}
}

func (f *findings) invalidKubelet(field, format string, args ...any) {
	f.refuseAs(awsv1.ReasonInvalidKubeletConfiguration, field, format, args...)
}

// expressions checks the fields that may hold one.
func (f *findings) expressions(field string, k *awsv1.Kubelet, o ClassOptions) {
	if k.MaxPods != nil && k.MaxPods.Type == intstr.String && !wholeNumber(k.MaxPods.StrVal) {
		f.expression(field+".maxPods", k.MaxPods.StrVal, o)
	}
	for _, list := range reserved(k) {
		for _, name := range slices.Sorted(maps.Keys(list.values)) {
			at, value := field+"."+list.name+"["+name+"]", list.values[name]
			if q, err := resource.ParseQuantity(value); err != nil {
				f.expression(at, value, o)
			} else if q.Sign() < 0 {
				f.invalidKubelet(at, "%s is less than nothing", value)
			}
		}
	}
}

func (f *findings) expression(at, text string, o ClassOptions) {
	if !o.Expressions {
		f.refuseAs(awsv1.ReasonKubeletExpressionsDisabled, at, "%s", noExpression(at, text))
		return
	}
	if _, err := expression.Compile(text); err != nil {
		f.refuseAs(awsv1.ReasonKubeletExpressionInvalid, at, "%s", err)
	}
}

// wholeNumber reports a number of pods in quotes, which is taken as the number.
func wholeNumber(text string) bool {
	_, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	return err == nil
}

// noExpression says what to write where expressions are not evaluated.
func noExpression(at, text string) string {
	want := "an amount such as 100m or 512Mi"
	if strings.HasSuffix(at, ".maxPods") {
		want = "a number such as 110"
	}
	return fmt.Sprintf("%q is no amount, and expressions are evaluated only with the feature gate NodeClassCEL "+
		"(AWS_FEATURE_GATES=NodeClassCEL=true): switch it on, or write %s", text, want)
}

// evictions checks that every soft threshold has a length of time it is
// borne for, and the other way round.
func (f *findings) evictions(field string, k *awsv1.Kubelet) {
	thresholds(f, field+".evictionHard", k.EvictionHard)
	thresholds(f, field+".evictionSoft", k.EvictionSoft)
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionSoft)) {
		if _, ok := k.EvictionSoftGracePeriod[signal]; !ok {
			f.invalidKubelet(field+".evictionSoft["+signal+"]", "needs a length of time in evictionSoftGracePeriod")
		}
	}
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionSoftGracePeriod)) {
		if _, ok := k.EvictionSoft[signal]; !ok {
			f.invalidKubelet(field+".evictionSoftGracePeriod["+signal+"]", "needs a threshold in evictionSoft")
		}
	}
	f.graces(field, k.EvictionSoftGracePeriod)
	if k.EvictionMaxPodGracePeriod != nil && *k.EvictionMaxPodGracePeriod < 0 {
		f.invalidKubelet(field+".evictionMaxPodGracePeriod", "%d is less than nothing", *k.EvictionMaxPodGracePeriod)
	}
}

// thresholds refuses amounts with which no kubelet starts: it takes 0 by percentage alone.
func thresholds[T ~string](f *findings, field string, by map[string]T) {
	for _, signal := range slices.Sorted(maps.Keys(by)) {
		if q, err := resource.ParseQuantity(string(by[signal])); err == nil && q.Sign() <= 0 {
			f.invalidKubelet(field+"["+signal+"]", "%s is not more than nothing, write an amount such as 100Mi, or 0%% for no threshold", by[signal])
		}
	}
}

// further checks the fields without a type of their own against the
// kubelet's own type, one by one so that each problem names its field.
func (f *findings) further(field string, k *awsv1.Kubelet) {
	for _, name := range k.FurtherNames() {
		at := field + "." + name
		if name == "registerWithTaints" {
			f.invalidKubelet(at, "nodes are tainted by their NodePool, use taints or startupTaints there")
			continue
		}
		document, err := json.Marshal(map[string]json.RawMessage{name: k.Further[name].Raw})
		if err != nil {
			f.invalidKubelet(at, "is no JSON: %s", err)
			continue
		}
		unknown, err := strictjson.UnmarshalStrict(document, new(kubeletv1beta1.KubeletConfiguration))
		if err = errorsOf(err, unknown); err != nil {
			f.invalidKubelet(at, "is not what KubeletConfiguration of kubelet.config.k8s.io/v1beta1 has: %s", err)
		}
	}
}

func errorsOf(err error, more []error) error {
	if err == nil && len(more) > 0 {
		return more[0]
	}
	return err
}

// unsupported refuses what the user data of a family cannot carry.
func (f *findings) unsupported(field string, k *awsv1.Kubelet, family awsv1.AMIFamily) {
	if family == awsv1.FamilyAL2023 {
		return
	}
	refuse := func(at, format string, args ...any) {
		f.refuseAs(awsv1.ReasonUnsupportedKubeletConfiguration, at, format, args...)
	}
	if names := k.FurtherNames(); len(names) > 0 {
		refuse(field, "nodes of the family %s do not support %s, use AL2023 or put it into userData", family, strings.Join(names, ", "))
	}
	if len(k.ClusterDNS) > 1 {
		refuse(field+".clusterDNS", "nodes of the family %s take one address, not %d", family, len(k.ClusterDNS))
	}
	if family != awsv1.FamilyBottlerocket {
		return
	}
	if k.PodsPerCore != nil {
		refuse(field+".podsPerCore", "nodes of the family Bottlerocket do not support it, use maxPods")
	}
	for _, list := range reserved(k) {
		if _, set := list.values[ReservedPID]; set {
			refuse(field+"."+list.name+"["+ReservedPID+"]", "nodes of the family Bottlerocket reserve cpu, memory and ephemeral-storage only, remove it")
		}
	}
}

// ReservedPID is the name under which process IDs are reserved. Bottlerocket's settings
// do not have it (https://bottlerocket.dev/en/os/latest/api/settings/kubernetes/).
const ReservedPID = "pid"

type reservation struct {
	name   string
	values map[string]string
}

// reserved are the amounts that a kubelet keeps, by field.
func reserved(k *awsv1.Kubelet) []reservation {
	return []reservation{{"kubeReserved", k.KubeReserved}, {"systemReserved", k.SystemReserved}}
}
