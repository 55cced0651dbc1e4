package machine

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The instance tags by which an instance is made to misbehave. A class or a launch template
// sets them as it sets any tag. Durations are written as Go writes them; those that do not
// parse are ignored.
const (
	TagBootAfter      = "lab.daemok.sh/boot-after"      // boots this much later than drawn
	TagNeverRegister  = "lab.daemok.sh/never-register"  // "true": its kubelet never starts
	TagNeverReady     = "lab.daemok.sh/never-ready"     // "true": registers and stays NotReady
	TagSilentAfter    = "lab.daemok.sh/silent-after"    // goes silent this long after it is ready
	TagCondition      = "lab.daemok.sh/condition"       // reports a condition: KernelDeadlock=True
	TagConditionAfter = "lab.daemok.sh/condition-after" // this long after it is ready; at once without
)

// orders are what an instance's tags ask of it.
type orders struct {
	bootAfter      time.Duration
	neverRegister  bool
	neverReady     bool
	silentAfter    time.Duration // negative: never
	condition      *corev1.NodeCondition
	conditionAfter time.Duration
}

func ordersOf(i Instance) orders {
	o := orders{
		bootAfter:      tagged(i.Tags, TagBootAfter, 0),
		neverRegister:  i.NeverRegisters || i.Tags[TagNeverRegister] == "true",
		neverReady:     i.Tags[TagNeverReady] == "true",
		silentAfter:    tagged(i.Tags, TagSilentAfter, -1),
		conditionAfter: tagged(i.Tags, TagConditionAfter, 0),
	}
	if kind, status, ok := strings.Cut(i.Tags[TagCondition], "="); ok {
		o.condition = &corev1.NodeCondition{
			Type: corev1.NodeConditionType(kind), Status: corev1.ConditionStatus(status),
			Reason: "SetInLab", Message: "condition set in the lab",
		}
	}
	return o
}

func tagged(tags map[string]string, key string, fallback time.Duration) time.Duration {
	d, err := time.ParseDuration(cmp.Or(tags[key], "none"))
	if err != nil {
		return fallback
	}
	return d
}
