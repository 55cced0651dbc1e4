package podspec

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
)

// ports are the host ports of containers and of sidecars, as kube-scheduler
// counts them. On the host's network every port of a container is one. An
// address of IPv6, "::" too, is one among others to the scheduler.
func ports(spec *corev1.PodSpec) []cluster.Port {
	var out []cluster.Port
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			number := p.HostPort
			if number == 0 && spec.HostNetwork {
				number = p.ContainerPort
			}
			if number > 0 {
				out = append(out, port(p, number))
			}
		}
	}
	for i := range spec.Containers {
		add(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if always := spec.InitContainers[i].RestartPolicy; always != nil && *always == corev1.ContainerRestartPolicyAlways {
			add(&spec.InitContainers[i])
		}
	}
	slices.SortFunc(out, func(a, b cluster.Port) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Address, b.Address))
	})
	return slices.Compact(out)
}

func port(p corev1.ContainerPort, number int32) cluster.Port {
	out := cluster.Port{Protocol: string(p.Protocol), Number: number, Address: p.HostIP}
	if out.Protocol == "" {
		out.Protocol = string(corev1.ProtocolTCP)
	}
	if out.Address == "0.0.0.0" {
		out.Address = ""
	}
	return out
}
