package boot

import (
	"bytes"
	"regexp"
	"strings"
)

// al2Image matches names of Amazon Linux 2 images, which carry no "al2".
var al2Image = regexp.MustCompile(`^amazon-eks-(arm64-|gpu-)?node-\d`)

// FamilyOf returns the family of an image by its name, as published; images under other
// names are recognized by the form of their user data, as an own image built on one of the
// families still reads its user data the same way.
func FamilyOf(imageName string, userData []byte) Family {
	name := strings.ToLower(imageName)
	switch {
	case strings.Contains(name, "al2023"):
		return AL2023
	case strings.Contains(name, "bottlerocket"):
		return Bottlerocket
	case strings.Contains(name, "windows"):
		return Windows
	case strings.HasPrefix(name, "ubuntu-eks/"):
		return Ubuntu
	case al2Image.MatchString(name):
		return AL2
	}
	return familyOfData(userData)
}

func familyOfData(userData []byte) Family {
	data, err := inflate(userData)
	if err != nil {
		return AL2023
	}
	marks := []struct {
		text   string
		family Family
	}{
		{"node.eks.aws", AL2023},
		{"Start-EKSBootstrap", Windows},
		{"-EKSClusterName", Windows},
		{"/etc/eks/bootstrap.sh", AL2},
		{"[settings", Bottlerocket},
	}
	for _, m := range marks {
		if bytes.Contains(data, []byte(m.text)) {
			return m.family
		}
	}
	return AL2023
}
