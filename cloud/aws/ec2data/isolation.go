package ec2data

import (
	"slices"
	"strings"
)

// withoutEnclaves are families, and single types, that the requirements of Nitro Enclaves in AWS's user guide ("What
// is AWS Nitro Enclaves? Requirements") leave out of those that are large enough. High-memory instances, which it
// writes U-*, are left out by their category.
var withoutEnclaves = []string{
	"c7i.24xlarge", "c7i.48xlarge", "m7i.24xlarge", "m7i.48xlarge", "r7i.24xlarge", "r7i.48xlarge",
	"g4ad", "m7i-flex", "r7iz", "trn1", "trn1n", "vt1",
	"a1", "c7gd", "c7gn", "g5g", "hpc7g", "im4gn", "is4gen", "m7g", "m7gd", "r7g", "r7gd",
}

// The vCPUs from which on an instance can give some of them to an enclave, by the same requirements: a whole core
// of processors that run two threads on each stays with the instance.
const (
	enclaveVCPUs    = 4
	enclaveVCPUsARM = 2
)

// Enclaves reports whether instances of the type can have Nitro Enclaves: virtual ones of the Nitro system that are
// large enough and not burstable. The table that EC2 goes by is not public; families that are newer than AWS's list
// are taken to follow its rule.
func (t *Type) Enclaves() bool {
	least := enclaveVCPUs
	if t.IsARM() {
		least = enclaveVCPUsARM
	}
	return t.Hypervisor == "nitro" && !t.BareMetal && !t.Burstable && t.VCPUs >= least && !strings.HasPrefix(t.Family, "u") &&
		!slices.Contains(withoutEnclaves, t.Family) && !slices.Contains(withoutEnclaves, t.Name)
}

// Features of processors, in EC2's words.
const (
	FeatureSEVSNP = "amd-sev-snp"
	FeatureNested = "nested-virtualization"
)

// encrypting are the sizes whose memory AMD's SEV-SNP can encrypt, by family, of AWS's user guide ("AMD SEV-SNP for
// Amazon EC2 instances: Supported instance types").
var encrypting = map[string][]string{
	"m6a": {"large", "xlarge", "2xlarge", "4xlarge", "8xlarge"},
	"c6a": {"large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge"},
	"r6a": {"large", "xlarge", "2xlarge", "4xlarge"},
}

// nesting are the families whose instances can run virtual machines of their own, by AWS's user guide
// ("Nested virtualization on Amazon EC2 instances").
var nesting = []string{"c8i", "m8i", "r8i"}

// ProcessorFeatures are what EC2 calls additional features of the type's processors, sorted: FeatureSEVSNP and
// FeatureNested. Bare metal has none of them: it runs what it likes.
func (t *Type) ProcessorFeatures() []string {
	var features []string
	if slices.Contains(encrypting[t.Family], t.Size) {
		features = append(features, FeatureSEVSNP)
	}
	if slices.Contains(nesting, t.Family) && !t.BareMetal {
		features = append(features, FeatureNested)
	}
	return features
}
