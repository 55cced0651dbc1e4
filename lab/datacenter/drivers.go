package datacenter

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/lab/machine"
)

// The drivers of dynamic resource allocation (DRA) that the lab stands in for.
const (
	driverNVIDIA = "gpu.nvidia.com"
	driverNeuron = "neuron.aws.com"
)

// published is what DRA drivers publish of an instance whose image carries what its devices need: GPUs of NVIDIA and
// Neuron devices, each whole. Two GPUs share a PCIe root.
func published(t *ec2data.Type, i machine.Instance) (out []machine.Published) {
	image := strings.ToLower(i.ImageName)
	carries := func(name string) bool { return strings.Contains(image, name) || strings.Contains(image, "gpu") }
	gpus, neurons := machine.Published{Driver: driverNVIDIA}, machine.Published{Driver: driverNeuron}
	for _, g := range t.GPUs {
		if strings.EqualFold(g.Maker, "nvidia") && carries("nvidia") && g.Share == 0 {
			for range g.Count {
				gpus.Devices = append(gpus.Devices, gpu(len(gpus.Devices), i.ID, g))
			}
		}
	}
	for _, a := range t.Accelerators {
		if a.Cores > 0 && carries("neuron") {
			for range a.Count {
				neurons.Devices = append(neurons.Devices, neuron(len(neurons.Devices), t.Name, a))
			}
		}
	}
	for _, p := range []machine.Published{gpus, neurons} {
		if len(p.Devices) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// attributes of a device; their names are those of the driver where they have no domain.
type attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute

func text(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }

func number(n int) resourcev1.DeviceAttribute {
	long := int64(n)
	return resourcev1.DeviceAttribute{IntValue: &long}
}

func gpu(i int, instance string, g ec2data.GPU) resourcev1.Device {
	product := "NVIDIA " + g.Name
	switch g.Name {
	case "K80", "M60", "T4", "V100":
		product = "Tesla " + g.Name
	}
	root := fmt.Sprintf("pci0000:%02x", i/2)
	return resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i), Attributes: attributes{
		"type": text("gpu"), "brand": text("Nvidia"), "productName": text(product),
		"uuid": text(fmt.Sprintf("GPU-%s-%d", instance, i)), "resource.kubernetes.io/pcieRoot": text(root),
	}, Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
		"memory": {Value: *resource.NewQuantity(g.MemoryMiB<<20, resource.BinarySI)}}}
}

func neuron(i int, instanceType string, a ec2data.Accelerator) resourcev1.Device {
	return resourcev1.Device{Name: fmt.Sprintf("neuron-device-%d", i), Attributes: attributes{
		"deviceId": number(i), "instanceType": text(instanceType), "coreCount": number(a.Cores),
		"resource.kubernetes.io/pcieRoot": text(fmt.Sprintf("pci0000:%02x", i))}}
}
