package emulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// image is one instance image that somebody published.
type image struct {
	ID           string
	Name         string
	Description  string
	OwnerID      string
	OwnerAlias   string
	Family       string // AL2023, AL2, Bottlerocket, Windows2022, Ubuntu …
	Architecture string // as EC2 writes it: x86_64 or arm64
	Windows      bool
	RootDevice   string
	Devices      []imageDevice
	CreatedAt    time.Time
	DeprecatedAt time.Time
	Tags         world.Tags
}

// imageDevice is one volume that an image asks for.
type imageDevice struct {
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
	devices                    []imageDevice
	versionsMax                int // newest Kubernetes minor it is published for; 0 is no end
	versionsMin                int // oldest
}

// publishImages makes the images that are public in the region and the SSM
// parameters that lead to them, for every Kubernetes version that EKS
// supports and the account's own.
func publishImages(a world.Account, now time.Time) ([]*image, map[string]world.Parameter) {
	var images []*image
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
	return world.ByKey(images, func(i *image) string { return i.ID }), parameters
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

func (b build) publish(a world.Account, r release) *image {
	name := r.fill(b.name)
	img := &image{
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
func (b build) announce(r release, img *image, to map[string]world.Parameter) {
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

// image finds an image by its ID.
func (s *Server) image(id string) (*image, error) {
	if !strings.HasPrefix(id, "ami-") {
		return nil, wire.Errorf("InvalidAMIID.Malformed", "Invalid id: \"%s\" (expecting \"ami-...\")", id)
	}
	i, found := slices.BinarySearchFunc(s.Images, id, func(img *image, id string) int { return strings.Compare(img.ID, id) })
	if !found {
		return nil, wire.Errorf("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	}
	return s.Images[i], nil
}
