package nodeclass

import (
	"regexp"
	"strings"
)

// publishedFamilies are the names under which images of a family are published, copies
// that keep the name included. Names that users choose may say anything.
var publishedFamilies = []struct {
	name   *regexp.Regexp
	family Family
}{
	{regexp.MustCompile(`^amazon-eks-(?:[a-z0-9]+-)*node-al2023-`), AL2023},
	{regexp.MustCompile(`^amazon-eks-(?:arm64-|gpu-)?node-1\.`), AL2},
	{regexp.MustCompile(`^bottlerocket-aws-k8s-`), Bottlerocket},
	{regexp.MustCompile(`^Windows_Server-2019-.*-EKS_Optimized-`), Windows2019},
	{regexp.MustCompile(`^Windows_Server-2022-.*-EKS_Optimized-`), Windows2022},
	{regexp.MustCompile(`^Windows_Server-2025-.*-EKS_Optimized-`), Windows2025},
	{regexp.MustCompile(`^ubuntu-eks[-a-z]*/`), Ubuntu},
}

// Family is the family that an image's name says; empty for a name that says none.
func (i Image) Family() Family {
	for _, p := range publishedFamilies {
		if p.name.MatchString(i.Name) {
			return p.family
		}
	}
	return ""
}

// FamilyOfOS is the family of a node by the operating system that its kubelet reports; empty
// where it is none of them.
func FamilyOfOS(osImage string) Family {
	for _, known := range []struct {
		prefix string
		family Family
	}{
		{"Amazon Linux 2023", AL2023}, {"Amazon Linux 2", AL2}, {"Bottlerocket", Bottlerocket}, {"Ubuntu", Ubuntu},
		{"Windows Server 2019", Windows2019}, {"Windows Server 2022", Windows2022}, {"Windows Server 2025", Windows2025},
	} {
		if strings.HasPrefix(osImage, known.prefix) {
			return known.family
		}
	}
	return ""
}

// Boots reports whether images of the other family read the user data that is written for
// this one. Whoever says Custom knows best.
func (f Family) Boots(other Family) bool {
	return f == Custom || other == "" || f.reads() == other.reads()
}

// BootsBy reports whether the user's own user data starts a node of the family's images,
// whatever is written beside it.
func (f Family) BootsBy(userData string) bool {
	return f.reads() != "" && strings.Contains(userData, f.reads())
}

// reads is what the user data of the family's images has in it.
func (f Family) reads() string {
	switch {
	case f == AL2023:
		return "node.eks.aws/"
	case f == AL2 || f == Ubuntu:
		return "/etc/eks/bootstrap.sh"
	case f == Bottlerocket:
		return "[settings"
	case f.Windows():
		return "Start-EKSBootstrap"
	}
	return ""
}
