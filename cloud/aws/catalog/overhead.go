package catalog

import (
	"math/big"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/quantity"
)

// allocatable is what of the capacity pods get: all but what the kubelet
// keeps for itself, for the system, and free of use.
func allocatable(t Type, spec nodeclass.Spec, total quantity.Resources) quantity.Resources {
	out := total.Sub(kubeReserved(t, spec, total.Pods)).Sub(given(spec.Kubelet.SystemReserved))
	out = out.Sub(evicted(spec.Kubelet.EvictionHard, total))
	return out.ClampNegative()
}

// kubeReserved is the share of the kubelet and the container runtime, by the
// formula of the EKS images; what the user sets counts instead.
func kubeReserved(t Type, spec nodeclass.Spec, pods int64) quantity.Resources {
	family := spec.EffectiveFamily()
	if family != nodeclass.Bottlerocket && !family.Windows() {
		pods = addressLimit(t, 0, 1) // these images count single addresses, whatever the kubelet is configured with
	}
	out := quantity.Resources{
		CPU:              reservedCPU(t.CPUs),
		Memory:           quantity.Bytes(11*pods+255) * quantity.MiB,
		EphemeralStorage: quantity.GiB,
	}
	user := given(spec.Kubelet.KubeReserved)
	for name := range spec.Kubelet.KubeReserved {
		if reservable(name) {
			out = out.With(name, user.Get(name))
		}
	}
	return out
}

// reservedCPU is 6 % of the first core, 1 % of the second, 0.5 % of the next
// two and 0.25 % of each further one.
func reservedCPU(cpus int64) quantity.MilliCPU {
	tenths := int64(0) // of a thousandth of a core
	for core := range cpus {
		switch {
		case core == 0:
			tenths += 600
		case core == 1:
			tenths += 100
		case core <= 3:
			tenths += 50
		default:
			tenths += 25
		}
	}
	return quantity.MilliCPU(tenths / 10)
}

// given reads amounts that the user reserved. Those that cannot be read were
// refused with the class.
func given(amounts map[string]string) quantity.Resources {
	out := quantity.Resources{}
	for name, text := range amounts {
		amount, err := nodeclass.ParseAmount(text)
		if err != nil || !reservable(name) {
			continue
		}
		if name == quantity.NameCPU {
			amount.Mul(amount, big.NewRat(1000, 1))
		}
		out = out.With(name, nodeclass.Ceil(amount))
	}
	return out
}

// reservable reports whether a resource is one that pods ask for; a kubelet can reserve
// others, such as pid.
func reservable(name string) bool {
	return name == quantity.NameCPU || name == quantity.NameMemory || name == quantity.NameEphemeralStorage
}

// evicted is what must stay free, or the kubelet evicts pods: 100 MiB of
// memory and a tenth of the disk, or what hard thresholds say.
func evicted(hard map[string]string, total quantity.Resources) quantity.Resources {
	return quantity.Resources{
		Memory: threshold(hard, "memory.available", total.Memory, 100*quantity.MiB),
		EphemeralStorage: threshold(hard, "nodefs.available", total.EphemeralStorage,
			(total.EphemeralStorage+9)/10),
	}
}

func threshold(hard map[string]string, signal string, total, standard quantity.Bytes) quantity.Bytes {
	text, ok := hard[signal]
	if !ok {
		return standard
	}
	n, err := nodeclass.ParseThreshold(text, int64(total))
	if err != nil {
		return standard
	}
	return quantity.Bytes(n)
}
