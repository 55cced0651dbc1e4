package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// minVersion is the variable that says on which Kubernetes the program starts at the
// oldest, as Karpenter's charts set it: "1.26.0-0". Major and minor version count.
const minVersion = "KUBERNETES_MIN_VERSION"

// leastKubernetes reads it; nil where any will do.
func leastKubernetes(text string) (*version.Version, error) {
	if text == "" {
		return nil, nil
	}
	v, err := version.ParseGeneric(text)
	if err != nil {
		return nil, fmt.Errorf("%s is %q: want a version such as 1.26.0", minVersion, text)
	}
	return version.MajorMinor(v.Major(), v.Minor()), nil
}

// newEnough refuses an API server whose version, such as 1.36, is below the least.
func newEnough(is string, least *version.Version) error {
	if least == nil {
		return nil
	}
	have, err := version.ParseGeneric(is)
	if err != nil {
		return fmt.Errorf("the API server says that it is of version %q, which is none: %w", is, err)
	}
	if have.LessThan(least) {
		return fmt.Errorf("the API server is of Kubernetes %s, and %s asks for %s: update the control plane, or set the variable to less", is, minVersion, least)
	}
	return nil
}
