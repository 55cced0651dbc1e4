package image

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// Image is one instance image that somebody published.
type Image struct {
	ID           string
	Name         string
	Description  string
	OwnerID      string
	OwnerAlias   string
	Family       string // AL2023, AL2, Bottlerocket, Windows2022, Ubuntu …
	Architecture string // as EC2 writes it: x86_64 or arm64
	Windows      bool
	RootDevice   string
	Devices      []ImageDevice
	CreatedAt    time.Time
	DeprecatedAt time.Time
	Tags         world.Tags
}

// ImageDevice is one volume that an image asks for.
type ImageDevice struct {
	Name     string
	SizeGiB  int
	Type     string
	Snapshot string
}

// Owners of the images that EKS clusters use.
const (
	ownerEKS          = "602401143452"
	ownerBottlerocket = "092701018921"
	ownerWindows      = "957547624766"
	ownerCanonical    = "099720109477"
)

// releaseAges are how many days before the account's creation images were
// published, newest first. The last release is past its deprecation, which
// AWS sets two years after publication.
var releaseAges = []int{9, 37, 65, 760}

const deprecatedAfter = 2 * 365 * 24 * time.Hour

// build is one kind of image that is published for one Kubernetes version.
// Names hold VERSION, DATE and RELEASE, which each publication fills in.
type build struct {
	family, arch, owner, alias string
	name                       string
	parameter                  string   // SSM path of the kind
	latest                     string   // path element of the newest: recommended or latest
	pinned                     []string // path elements of one release
	key                        string   // last path element: image_id, or Canonical's ami-id
	description                string
	root                       string
	devices                    []ImageDevice
	versionsMax                int // newest Kubernetes minor it is published for; 0 is no end
	versionsMin                int // oldest
}

// publishImages makes the images that are public in the region and the SSM
// parameters that lead to them, for every Kubernetes version that EKS
// supports and the account's own.
func publishImages(a world.Account, now time.Time) ([]*Image, map[string]world.Parameter) {
	var images []*Image
	parameters := map[string]world.Parameter{}
	for _, minor := range world.PublishedMinors(a.EKSVersion) {
		for _, b := range buildsFor(minor) {
			for age, days := range slices.Backward(releaseAges) {
				r := release{version: fmt.Sprintf("1.%d", minor), at: now.AddDate(0, 0, -days).Truncate(24 * time.Hour), age: age}
				img := b.publish(a, r)
				images = append(images, img)
				b.announce(r, img, parameters)
			}
		}
	}
	return world.ByKey(images, func(i *Image) string { return i.ID }), parameters
}

// buildsFor are what is published for a Kubernetes version.
func buildsFor(minor int) []build {
	return slices.DeleteFunc(builds(), func(b build) bool { return minor < b.versionsMin || b.versionsMax > 0 && minor > b.versionsMax })
}

// release is one publication of a build.
type release struct {
	version string
	at      time.Time
	age     int  // 0 is the newest when the account is made, -1 the next after it
	patch   int  // of a release that is numbered
	past    bool // of before those that the account is made with
}

// fill writes a release's facts into a name.
func (r release) fill(text string) string {
	return strings.NewReplacer(
		"VERSION", r.version,
		"DATE", r.at.Format("20060102"),
		"DOTTED", r.at.Format("2006.01.02"),
		"RELEASE", fmt.Sprintf("1.%d.%d", newestRelease-r.age, r.patch),
		"COMMIT", fmt.Sprintf("%08x", r.at.Unix()&0xffffffff),
	).Replace(text)
}

func (b build) publish(a world.Account, r release) *Image {
	name := r.fill(b.name)
	img := &Image{
		ID: a.StableID("ami", name), Name: name, Description: r.fill(b.description),
		OwnerID: b.owner, OwnerAlias: b.alias, Family: b.family, Architecture: b.arch,
		Windows: strings.HasPrefix(b.family, "Windows"), RootDevice: b.root,
		CreatedAt: r.at, DeprecatedAt: r.at.Add(deprecatedAfter),
	}
	for _, d := range b.devices {
		d.Snapshot = a.StableID("snap", name, d.Name)
		img.Devices = append(img.Devices, d)
	}
	return img
}

// announce writes the SSM parameters of one release: its pinned names, and the
// moving one, which has had the images of all releases in turn.
func (b build) announce(r release, img *Image, to map[string]world.Parameter) {
	elements := b.pinned
	if !r.past {
		elements = append(slices.Clone(elements), b.latest)
	}
	for _, element := range elements {
		path := strings.TrimSuffix(r.fill(b.parameter+"/"+element), "/")
		put := func(name, value string) { to[name] = to[name].Next(value, r.at) }
		put(path+"/"+b.key, img.ID)
		if b.key != "image_id" {
			continue
		}
		put(path+"/image_name", img.Name)
		if b.family == "Bottlerocket" {
			put(path+"/image_version", r.fill("RELEASE-COMMIT"))
			continue
		}
		put(path+"/release_version", r.fill("VERSION.2-DATE"))
		put(path, fmt.Sprintf(`{"image_id":%q,"image_name":%q,"release_version":%q}`, img.ID, img.Name, r.fill("VERSION.2-DATE")))
	}
}

// Image finds an image by its ID.
func (s *Registry) Image(id string) (*Image, error) {
	if !strings.HasPrefix(id, "ami-") {
		return nil, wire.Errorf("InvalidAMIID.Malformed", "Invalid id: \"%s\" (expecting \"ami-...\")", id)
	}
	i, found := slices.BinarySearchFunc(s.Images, id, func(img *Image, id string) int { return strings.Compare(img.ID, id) })
	if !found {
		return nil, wire.Errorf("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	}
	return s.Images[i], nil
}

// builds lists what is published per Kubernetes version, as EKS, Bottlerocket,
// Windows and Canonical name their images and parameters.
func builds() []build {
	return slices.Concat(al2023Builds(), bottlerocketBuilds(), al2Builds(), windowsBuilds(), ubuntuBuilds())
}

func rootVolume(name string, gib int, kind string) []ImageDevice {
	return []ImageDevice{{Name: name, SizeGiB: gib, Type: kind}}
}

func al2023Builds() []build {
	var all []build
	for _, v := range []struct{ arch, variant string }{
		{"x86_64", "standard"}, {"x86_64", "nvidia"}, {"x86_64", "neuron"}, {"arm64", "standard"}, {"arm64", "nvidia"},
	} {
		name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-VERSION-vDATE", v.arch, v.variant)
		all = append(all, build{
			family: "AL2023", arch: v.arch, owner: ownerEKS, alias: "amazon", name: name, versionsMin: 29,
			parameter:   fmt.Sprintf("/aws/service/eks/optimized-ami/VERSION/amazon-linux-2023/%s/%s", v.arch, v.variant),
			latest:      "recommended",
			pinned:      []string{name},
			key:         "image_id",
			description: fmt.Sprintf("EKS-optimized Kubernetes node based on Amazon Linux 2023, (k8s: VERSION.2, containerd: 2.1.*, variant: %s)", v.variant),
			root:        "/dev/xvda", devices: rootVolume("/dev/xvda", 20, "gp3"),
		})
	}
	return all
}

func bottlerocketBuilds() []build {
	var all []build
	for _, arch := range []string{"x86_64", "arm64"} {
		for _, variant := range []string{"", "-nvidia"} {
			all = append(all, build{
				family: "Bottlerocket", arch: arch, owner: ownerBottlerocket, alias: "amazon", versionsMin: 29,
				name:        fmt.Sprintf("bottlerocket-aws-k8s-VERSION%s-%s-vRELEASE-COMMIT", variant, amd64OrAarch64(arch)),
				parameter:   fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-VERSION%s/%s", variant, arch),
				latest:      "latest",
				pinned:      []string{"RELEASE", "RELEASE-COMMIT"},
				key:         "image_id",
				description: "Bottlerocket for Kubernetes VERSION, release RELEASE",
				root:        "/dev/xvda",
				devices: []ImageDevice{
					{Name: "/dev/xvda", SizeGiB: 2, Type: "gp2"}, {Name: "/dev/xvdb", SizeGiB: 20, Type: "gp2"},
				},
			})
		}
	}
	return all
}

// amd64OrAarch64 is how Bottlerocket writes architectures in image names.
func amd64OrAarch64(arch string) string {
	if arch == "arm64" {
		return "aarch64"
	}
	return arch
}

func al2Builds() []build {
	var all []build
	for _, v := range []struct{ arch, suffix, infix string }{
		{"x86_64", "", ""}, {"arm64", "-arm64", "arm64-"}, {"x86_64", "-gpu", "gpu-"},
	} {
		name := fmt.Sprintf("amazon-eks-%snode-VERSION-vDATE", v.infix)
		all = append(all, build{
			family: "AL2", arch: v.arch, owner: ownerEKS, alias: "amazon", name: name, versionsMin: 29, versionsMax: 32,
			parameter:   "/aws/service/eks/optimized-ami/VERSION/amazon-linux-2" + v.suffix,
			latest:      "recommended",
			pinned:      []string{name},
			key:         "image_id",
			description: "EKS Kubernetes Worker AMI with AmazonLinux2 image, (k8s: VERSION.2, containerd: 1.7.*)",
			root:        "/dev/xvda", devices: rootVolume("/dev/xvda", 20, "gp2"),
		})
	}
	return all
}

func windowsBuilds() []build {
	var all []build
	for year, versionsMin := range map[string]int{"2019": 29, "2022": 29, "2025": 35} {
		for _, edition := range []string{"Core", "Full"} {
			all = append(all, build{
				family: "Windows" + year, arch: "x86_64", owner: ownerWindows, alias: "amazon", versionsMin: versionsMin,
				name:        fmt.Sprintf("Windows_Server-%s-English-%s-EKS_Optimized-VERSION-DOTTED", year, edition),
				parameter:   fmt.Sprintf("/aws/service/ami-windows-latest/Windows_Server-%s-English-%s-EKS_Optimized-VERSION", year, edition),
				key:         "image_id",
				description: fmt.Sprintf("Microsoft Windows Server %s %s EKS optimized for Kubernetes VERSION", year, edition),
				root:        "/dev/sda1", devices: rootVolume("/dev/sda1", 50, "gp2"),
			})
		}
	}
	return world.ByKey(all, func(b build) string { return b.name })
}

func ubuntuBuilds() []build {
	var all []build
	for _, v := range []struct {
		release, name, volume    string
		versionsMin, versionsMax int
	}{
		{"22.04", "hvm-ssd/ubuntu-jammy-22.04", "gp2", 29, 32},
		{"24.04", "hvm-ssd-gp3/ubuntu-noble-24.04", "gp3", 31, 0},
	} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, build{
				family: "Ubuntu", arch: map[string]string{"amd64": "x86_64", "arm64": "arm64"}[arch], owner: ownerCanonical,
				versionsMin: v.versionsMin, versionsMax: v.versionsMax,
				name:        fmt.Sprintf("ubuntu-eks/k8s_VERSION/images/%s-%s-server-DATE", v.name, arch),
				parameter:   fmt.Sprintf("/aws/service/canonical/ubuntu/eks/%s/VERSION/stable", v.release),
				latest:      fmt.Sprintf("current/%s/hvm/ebs-%s", arch, v.volume),
				pinned:      []string{fmt.Sprintf("DATE/%s/hvm/ebs-%s", arch, v.volume)},
				key:         "ami-id",
				description: fmt.Sprintf("Canonical, Ubuntu EKS Node OS (k8s_VERSION), %s LTS, %s", v.release, arch),
				root:        "/dev/sda1", devices: rootVolume("/dev/sda1", 20, v.volume),
			})
		}
	}
	return all
}
