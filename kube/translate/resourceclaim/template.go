package resourceclaim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/kube/api"
)

// Published is what one driver publishes of a node, or would publish.
type Published struct {
	Driver    string
	Devices   []resourcev1.Device
	Counters  []resourcev1.CounterSet
	OnRequest bool // instances have the devices only where they are launched for them
}

// Learn is what the driver of a complete pool is likely to publish of another node of the same instance type: what it
// does of this one, without taints, and without identities that no other device has.
func Learn(p *Pool, node string) Published {
	out := Published{Driver: p.Driver}
	for _, s := range p.Slices {
		out.Counters = append(out.Counters, s.Spec.SharedCounters...)
		for i := range s.Spec.Devices {
			if nodeOf(s, &s.Spec.Devices[i]) != node {
				continue
			}
			d := s.Spec.Devices[i].DeepCopy()
			d.Taints = nil
			for name, a := range d.Attributes {
				if a.StringValue != nil && isIdentity(string(name)) {
					other := "of another node: " + *a.StringValue
					d.Attributes[name] = resourcev1.DeviceAttribute{StringValue: &other}
				}
			}
			out.Devices = append(out.Devices, *d)
		}
	}
	return out
}

// isIdentity reports whether an attribute of that name distinguishes a device from all others. Devices that share
// one, such as partitions of one GPU, still share it on another node.
func isIdentity(name string) bool {
	name = strings.ToLower(name)
	is := func(end string) bool { return strings.HasSuffix(name, end) }
	return is("uuid") || is("serial") || is("serialnumber")
}

// Add adds to an inventory what is published of a node with nothing allocated.
func (r *Reader) Add(to *device.Inventory, p Published) {
	const pool = "node"
	to.Counters = append(to.Counters, countersOf(p.Driver, pool, p.Counters)...)
	for i := range p.Devices {
		to.Devices = append(to.Devices, r.device(p.Driver, pool, &p.Devices[i]))
	}
}

// The drivers whose devices instance types are known to have.
const (
	DriverNVIDIA = "gpu.nvidia.com"
	DriverNeuron = "neuron.aws.com"
	DriverEFA    = api.DriverEFA
)

// OnRequest reports whether instances of a type have the devices of a driver only where they are launched for them.
func OnRequest(k *cluster.InstanceType, driver string) bool {
	return driver == DriverEFA && slices.Contains(k.OnRequest, api.ResourceEFA)
}

// Expected is what drivers are expected to publish of instances of a type before any node of it has shown what they
// do: NVIDIA GPUs and AWS Neuron devices, each whole, and Elastic Fabric Adapters, of which nothing is known but how
// many there are; sorted by driver.
func Expected(k *cluster.InstanceType) (out []Published) {
	label := func(key string) string { value, _ := k.Labels.Get(key); return value }
	number := func(key string) int { n, _ := strconv.Atoi(label(key)); return n }
	if adapters := k.Capacity.Get(api.ResourceEFA); adapters > 0 {
		p := Published{Driver: DriverEFA}
		for i := range adapters {
			p.Devices = append(p.Devices, resourcev1.Device{Name: fmt.Sprintf("efa-%d", i)})
		}
		out = append(out, p)
	}
	if label(api.LabelGPUManufacturer) == "nvidia" {
		p := Published{Driver: DriverNVIDIA}
		for i := range number(api.LabelGPUCount) {
			p.Devices = append(p.Devices, gpu(i, label(api.LabelGPUName), number(api.LabelGPUMemory)))
		}
		out = append(out, p)
	}
	if label(api.LabelAcceleratorManufacturer) == "aws" {
		p := Published{Driver: DriverNeuron}
		for i := range number(api.LabelAcceleratorCount) {
			p.Devices = append(p.Devices, resourcev1.Device{Name: fmt.Sprintf("neuron-device-%d", i),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
					"deviceId": integer(i), "instanceType": text(k.Name)}})
		}
		out = append(out, p)
	}
	return slices.DeleteFunc(out, func(p Published) bool { return len(p.Devices) == 0 })
}

// model is what NVIDIA's driver says of a GPU.
type model struct{ product, architecture, capability string }

// models are the GPUs of EC2, by the label of instance types.
var models = map[string]model{
	"k80":  {"Tesla K80", "Kepler", "3.7.0"},
	"m60":  {"Tesla M60", "Maxwell", "5.2.0"},
	"v100": {"Tesla V100-SXM2-16GB", "Volta", "7.0.0"},
	"t4":   {"Tesla T4", "Turing", "7.5.0"},
	"t4g":  {"NVIDIA T4G", "Turing", "7.5.0"},
	"a10g": {"NVIDIA A10G", "Ampere", "8.6.0"},
	"a100": {"NVIDIA A100-SXM4-40GB", "Ampere", "8.0.0"},
	"l4":   {"NVIDIA L4", "Ada Lovelace", "8.9.0"},
	"l40s": {"NVIDIA L40S", "Ada Lovelace", "8.9.0"},
	"h100": {"NVIDIA H100 80GB HBM3", "Hopper", "9.0.0"},
	"h200": {"NVIDIA H200", "Hopper", "9.0.0"},
	"b200": {"NVIDIA B200", "Blackwell", "10.0.0"},
	"b300": {"NVIDIA B300 SXM6 AC", "Blackwell", "10.3.0"},
}

// gpu is a whole GPU with so many MiB of memory, as NVIDIA's driver publishes it.
func gpu(i int, name string, memoryMiB int) resourcev1.Device {
	out := resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i),
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"type": text("gpu"), "brand": text("Nvidia"), "uuid": text(fmt.Sprintf("not known yet: %d", i))},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
			"memory": {Value: *resource.NewQuantity(int64(memoryMiB)<<20, resource.BinarySI)}}}
	m, known := models[name]
	switch {
	case name == "a100" && memoryMiB > 50<<10:
		m.product = "NVIDIA A100-SXM4-80GB"
	case name == "v100" && memoryMiB > 20<<10:
		m.product = "Tesla V100-SXM2-32GB"
	}
	if known {
		out.Attributes["productName"], out.Attributes["architecture"] = text(m.product), text(m.architecture)
		out.Attributes["cudaComputeCapability"] = resourcev1.DeviceAttribute{VersionValue: &m.capability}
	}
	return out
}

func text(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }

func integer(i int) resourcev1.DeviceAttribute {
	n := int64(i)
	return resourcev1.DeviceAttribute{IntValue: &n}
}
