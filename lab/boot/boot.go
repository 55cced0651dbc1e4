// Package boot reads an instance's user data as the boot scripts of the real instance images would,
// and determines how the kubelet of that instance is started and what the instance finds out about
// itself.
//
// It promises the result that nodeadm (AL2023), bootstrap.sh (AL2, Ubuntu), Bottlerocket's settings
// and Start-EKSBootstrap.ps1 (Windows) have on a node: cluster, labels, taints, pod limit, reserved
// resources, allocatable. Data that would keep a real instance from joining is an error, with a text
// for the instance's console.
//
// It runs nothing from the user data, connects to nothing and keeps no state. It skips parts of
// scripts that do not affect the kubelet.
package boot

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Family is the kind of image an instance boots from. It decides how user data is read and
// which defaults apply.
type Family string

// The families whose boot is understood.
const (
	AL2          Family = "AL2"
	AL2023       Family = "AL2023"
	Bottlerocket Family = "Bottlerocket"
	Windows      Family = "Windows"
	Ubuntu       Family = "Ubuntu" // Canonical's for EKS
)

// Cluster is which cluster an instance joins: by its user data, or in truth.
type Cluster struct {
	Name     string
	Endpoint string // URL of the API server
	CA       []byte // PEM
	CIDR     string // of services; only AL2023 gets it
}

// Settings is what a kubelet is started with. Zero fields were not named in the user data
// and are the instance's own choice; see Settings.Resources.
type Settings struct {
	Family      Family
	Cluster     Cluster
	Labels      map[string]string
	Taints      []corev1.Taint
	MaxPods     int32 // 0: by network interfaces
	PodsPerCore int32 // 0: no such limit
	ClusterDNS  []string

	KubeReserved   map[string]string // nil: by the image's formula
	SystemReserved map[string]string
	EvictionHard   map[string]string // nil: the image's default

	RAID0 bool // local disks become one volume that holds the kubelet's files

	ignoreENIs bool // bootstrap.sh --use-max-pods false
}

// Read returns what the instance's kubelet is started with. It fails when the boot of a
// real instance of that family would: the error says why.
func Read(family Family, userData []byte) (Settings, error) {
	data, err := inflate(userData)
	if err != nil {
		return Settings{}, fmt.Errorf("user data: %w", err)
	}
	read, ok := map[Family]func([]byte) (Settings, error){
		AL2:          readBootstrapScript,
		AL2023:       readNodeConfig,
		Bottlerocket: readBottlerocket,
		Windows:      readPowerShell,
		Ubuntu:       readBootstrapScript,
	}[family]
	if !ok {
		return Settings{}, fmt.Errorf("user data: no boot script known for image family %q", family)
	}
	s, err := read(data)
	if err != nil {
		return Settings{}, fmt.Errorf("user data of %s: %w", family, err)
	}
	s.Family = family
	return s, nil
}
