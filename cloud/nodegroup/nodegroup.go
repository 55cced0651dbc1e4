// Package nodegroup describes node groups that other autoscalers scale. It only holds values.
package nodegroup

// Group is one group.
type Group struct {
	Name      string // of the Auto Scaling group
	Managed   string // name of the node group that EKS manages; empty: the user's own
	Cluster   string // EKS's cluster of a managed one
	Min, Max  int
	Desired   int
	Types     []string          // instance types
	Spot      bool              // instances may be spot
	OnDemand  bool              // instances may be on demand
	Share     string            // how many of either, where both may be; in words
	Tags      map[string]string // of the group
	Launched  map[string]string // those of them that instances get too
	Labels    map[string]string // that EKS gives nodes of a managed group
	Taints    []Taint           // likewise
	Unmanaged []string          // what of it cannot be read as types or a template, each with the way out

	Subnets        []string // IDs
	SecurityGroups []string // IDs
	Missing        []string // of both, those that EC2 does not know
	Images         string   // EKS's name for the kind of image, such as AL2023_x86_64_STANDARD; empty: Image
	Image          string   // ID, or resolve:ssm: and a parameter
	ImageName      string
	UserData       string // as instances read it
	Profile        string // instance profile
	Role           string // of a managed group
	KeyName        string
	Placement      string // name of a placement group
	Tenancy        string
	Monitoring     bool
	PublicIP       *bool
	DiskGiB        int // of the root volume, where there are no Devices
	Devices        []Device
	Metadata       Metadata
	Template       string // the launch template and its version, for people
}

// Taint is a taint, with the effect as Kubernetes writes it.
type Taint struct{ Key, Value, Effect string }

// Device is a volume of an instance. Zero values were not said.
type Device struct {
	Name, Type, Snapshot, Key   string
	SizeGiB, IOPS, Throughput   int64
	Encrypted, DeletedWithItAll *bool
}

// Metadata is how instances reach their metadata. Zero values were not said.
type Metadata struct {
	Endpoint, IPv6, Tokens string
	Hops                   int64
}
