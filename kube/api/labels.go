package api

import (
	"slices"
	"strings"
)

// NormalisedLabels maps older names of well-known labels to today's. It is
// never written.
var NormalisedLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   LabelZone,
	"failure-domain.beta.kubernetes.io/region": LabelRegion,
	"beta.kubernetes.io/arch":                  LabelArch,
	"beta.kubernetes.io/os":                    LabelOS,
	"beta.kubernetes.io/instance-type":         LabelInstanceType,
	"topology.ebs.csi.aws.com/zone":            LabelZone,
}

// Normalise returns today's name of a label key.
func Normalise(key string) string {
	if stable, ok := NormalisedLabels[key]; ok {
		return stable
	}
	return key
}

// wellKnown are the labels a pod may ask for although its pool does not mention them, because every
// instance has a say on them.
var wellKnown = []string{
	LabelNodePool, LabelProvisioner, LabelCapacityType, LabelZone, LabelRegion, LabelInstanceType, LabelArch, LabelOS,
	LabelWindowsBuild, LabelZoneID,
	LabelReservationID, LabelReservationType, LabelReservationInterruptible,
	LabelHypervisor, LabelEncryptionInTransit, LabelNitroSandbox,
	LabelCategory, LabelGeneration, LabelFamily, LabelSize, LabelLocalNVMe,
	LabelCPU, LabelCPUManufacturer, LabelCPUSustainedClock, LabelMemory,
	LabelEBSBandwidth, LabelNetworkBandwidth,
	LabelGPUName, LabelGPUManufacturer, LabelGPUCount, LabelGPUMemory,
	LabelAcceleratorName, LabelAcceleratorManufacturer, LabelAcceleratorCount,
	LabelCapabilityFlex, LabelTenancy, LabelPlacementGroupID, LabelPlacementGroupPartition,
}

// WellKnownLabels returns the labels that instances define, sorted. The caller owns the slice.
func WellKnownLabels() []string { return slices.Sorted(slices.Values(wellKnown)) }

// IsWellKnown reports whether instances define the label. Older names are normalised first.
func IsWellKnown(key string) bool { return slices.Contains(wellKnown, Normalise(key)) }

// IsOfInstances reports whether what is launched decides the label's value, those of
// Provisioners' instances included. The name of the pool does not come from that. Older
// names are normalised first.
func IsOfInstances(key string) bool {
	key = Normalise(key)
	return key != LabelNodePool && key != LabelProvisioner && (IsWellKnown(key) || slices.Contains(olderLabels, key))
}

// restrictedDomains are the label domains that only Daemok writes to, their
// sub-domains included.
var restrictedDomains = []string{GroupKarpenter, GroupAWS}

// IsRestricted reports whether a pool or pod may not use the label: the host
// name, and every label of a restricted domain that is not well known.
func IsRestricted(key string) bool {
	key = Normalise(key)
	if key == LabelHostname {
		return true
	}
	return InRestrictedDomain(key) && !IsWellKnown(key) && key != LabelNodeClass
}

// InRestrictedDomain reports whether the label's domain is a restricted one
// or below it.
func InRestrictedDomain(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if !found {
		return false
	}
	return slices.ContainsFunc(restrictedDomains, func(r string) bool {
		return domain == r || strings.HasSuffix(domain, "."+r)
	})
}

// olderLabels describe instances of Provisioners, and no others.
var olderLabels = []string{LabelInstancePods, LabelAcceleratorMemory, LabelAMIID}

// newerLabels are well known and yet mean nothing to a Provisioner, which has neither capacity
// reservations nor placement groups, nor to its instances.
var newerLabels = []string{
	LabelNodePool, LabelReservationID, LabelReservationType, LabelReservationInterruptible,
	LabelPlacementGroupID, LabelPlacementGroupPartition,
}

// IsOfOlderAPI reports whether the label is on instances of Provisioners alone, so that no
// NodeClaim may ask for it.
func IsOfOlderAPI(key string) bool {
	return key == LabelProvisioner || slices.Contains(olderLabels, key)
}

// IsWellKnownToProvisioner reports whether the instances of a Provisioner define the label. Older
// names are normalised first.
func IsWellKnownToProvisioner(key string) bool {
	key = Normalise(key)
	return IsWellKnown(key) && !slices.Contains(newerLabels, key) || slices.Contains(olderLabels, key)
}

// IsRestrictedToProvisioner reports whether a Provisioner may not use the label: the host name, and
// every label of a domain that the v1alpha5 API keeps for itself and Kubernetes which its instances
// do not define.
func IsRestrictedToProvisioner(key string) bool {
	key = Normalise(key)
	domain, _, found := strings.Cut(key, "/")
	if key == LabelHostname || key == LabelProvisioner {
		return true
	}
	if !found || IsWellKnownToProvisioner(key) || slices.Contains(openDomains, domain) {
		return false
	}
	return InRestrictedDomain(key) || inDomain(domain, "kubernetes.io") || inDomain(domain, "k8s.io")
}

// openDomains are below restricted ones and open to labels of users.
var openDomains = []string{"kops.k8s.io", "node.kubernetes.io", "testing.karpenter.sh"}

// RegistrationOnly reports whether a kubelet may not set the label on its own
// node, so that it has to be put there when the node registers: every label
// of the domains kubernetes.io and k8s.io but the few that node restriction
// leaves to kubelets.
func RegistrationOnly(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if !found || !inDomain(domain, "kubernetes.io") && !inDomain(domain, "k8s.io") {
		return false
	}
	if inDomain(domain, "kubelet.kubernetes.io") || inDomain(domain, "node.kubernetes.io") {
		return false
	}
	return !slices.Contains(kubeletLabels, key)
}

// kubeletLabels are the labels of reserved domains that a kubelet may set.
var kubeletLabels = []string{
	LabelHostname, LabelInstanceType, LabelArch, LabelOS, LabelZone, LabelRegion,
	"beta.kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type",
	"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
}

func inDomain(domain, parent string) bool {
	return domain == parent || strings.HasSuffix(domain, "."+parent)
}

// AllowedValues returns the only values a label can have, if it is one with a
// fixed set, and nil for every other. The caller owns the slice.
func AllowedValues(key string) []string {
	switch Normalise(key) {
	case LabelCapacityType:
		return []string{CapacityTypeOnDemand, CapacityTypeReserved, CapacityTypeSpot}
	case LabelTenancy:
		return []string{TenancyDedicated, TenancyDefault}
	}
	return nil
}
