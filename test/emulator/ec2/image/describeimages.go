package image

import (
	"slices"
	"strconv"

	"github.com/daemok/daemok/test/emulator/world"
)

// ImageXML is an image as EC2 shows it.
type ImageXML struct {
	Architecture string           `xml:"architecture"`
	Devices      []imageDeviceXML `xml:"blockDeviceMapping>item"`
	BootMode     string           `xml:"bootMode"`
	CreatedAt    string           `xml:"creationDate"`
	DeprecatedAt string           `xml:"deprecationTime,omitempty"`
	Description  string           `xml:"description"`
	ENA          bool             `xml:"enaSupport"`
	Hypervisor   string           `xml:"hypervisor"`
	ID           string           `xml:"imageId"`
	Location     string           `xml:"imageLocation"`
	OwnerAlias   string           `xml:"imageOwnerAlias,omitempty"`
	OwnerID      string           `xml:"imageOwnerId"`
	State        string           `xml:"imageState"`
	Type         string           `xml:"imageType"`
	IMDS         string           `xml:"imdsSupport,omitempty"`
	Public       bool             `xml:"isPublic"`
	Name         string           `xml:"name"`
	Platform     string           `xml:"platform,omitempty"`
	Details      string           `xml:"platformDetails"`
	RootDevice   string           `xml:"rootDeviceName"`
	RootType     string           `xml:"rootDeviceType"`
	SRIOV        string           `xml:"sriovNetSupport"`
	Tags         world.Tags       `xml:"tagSet>item"`
	Usage        string           `xml:"usageOperation"`
	Virt         string           `xml:"virtualizationType"`
}

type imageDeviceXML struct {
	Name string      `xml:"deviceName"`
	EBS  imageEBSXML `xml:"ebs"`
}

type imageEBSXML struct {
	DeleteOnTermination bool   `xml:"deleteOnTermination"`
	Snapshot            string `xml:"snapshotId"`
	SizeGiB             int    `xml:"volumeSize"`
	Type                string `xml:"volumeType"`
	Encrypted           bool   `xml:"encrypted"`
}

// deprecation is when an image is to be used no more; empty: never.
func deprecation(i *Image) string {
	if i.DeprecatedAt.IsZero() {
		return ""
	}
	return world.ImageTime(i.DeprecatedAt)
}

// describeImages leaves deprecated images out unless they are asked for, named by ID, or
// the account's own.
func describeImages(c *call) (any, error) {
	st := c.server
	ids := c.Params.Strings("ImageId")
	st.recallImages(c.Params)
	chosen, err := world.ChosenByID(ids, st.Images, func(i *Image) string { return i.ID }, "InvalidAMIID.NotFound", "The image id '[%s]' does not exist")
	if err != nil {
		return nil, err
	}
	if !c.Params.Bool("IncludeDeprecated") && len(ids) == 0 {
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(i *Image) bool { return i.deprecated(c.At) && i.OwnerID != st.Settings.ID })
	}
	chosen = ownedBy(chosen, c.Params.Strings("Owner"), st.Settings.ID)
	page, next, err := world.List[*Image]{
		Fields: st.imageFields(),
		Tags:   func(i *Image) world.Tags { return i.Tags.Searchable(c.At) },
		Limits: world.PageLimits{Least: 1, Most: 1000},
		Key:    func(i *Image) string { return i.ID },
	}.Page(c.Call, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Images []ImageXML `xml:"imagesSet>item"`
		Next   string     `xml:"nextToken,omitempty"`
	}
	for _, i := range page {
		x := ImageAnswer(i)
		x.Public = st.public(i)
		answer.Images = append(answer.Images, x)
	}
	answer.Next = next
	return answer, nil
}

// public reports whether all accounts may launch an image, as they may all but the account's own.
func (s *Registry) public(i *Image) bool { return i.OwnerID != s.Settings.ID }

// ownedBy keeps the images of any of the owners: account numbers, aliases, or
// self. Aliases of AWS's own accounts all read amazon.
func ownedBy(images []*Image, owners []string, self string) []*Image {
	if len(owners) == 0 {
		return images
	}
	return slices.DeleteFunc(slices.Clone(images), func(i *Image) bool {
		mine := slices.Contains(owners, "self") && i.OwnerID == self
		alias := i.OwnerAlias != "" && slices.Contains(owners, i.OwnerAlias)
		return !mine && !alias && !slices.Contains(owners, i.OwnerID)
	})
}

// ImageAnswer is how EC2 shows an image.
func ImageAnswer(i *Image) ImageXML {
	x := ImageXML{
		Architecture: i.Architecture, BootMode: "uefi-preferred", CreatedAt: world.ImageTime(i.CreatedAt), DeprecatedAt: deprecation(i),
		Description: i.Description, ENA: true, Hypervisor: "xen", ID: i.ID, Location: i.location(), OwnerAlias: i.OwnerAlias,
		OwnerID: i.OwnerID, State: "available", Type: "machine", IMDS: "v2.0", Name: i.Name,
		Details: "Linux/UNIX", RootDevice: i.RootDevice, RootType: "ebs", SRIOV: "simple", Tags: i.Tags, Usage: "RunInstances", Virt: "hvm",
	}
	if i.Architecture == "arm64" {
		x.BootMode = "uefi"
	}
	if i.Windows {
		x.Platform, x.Details, x.Usage = "windows", "Windows", "RunInstances:0002"
	}
	for _, d := range i.Devices {
		x.Devices = append(x.Devices, imageDeviceXML{d.Name, imageEBSXML{DeleteOnTermination: true, Snapshot: d.Snapshot, SizeGiB: d.SizeGiB, Type: d.Type}})
	}
	return x
}

func (i *Image) location() string {
	if i.OwnerAlias != "" {
		return i.OwnerAlias + "/" + i.Name
	}
	return i.OwnerID + "/" + i.Name
}

func (s *Registry) imageFields() world.Fields[*Image] {
	owner := world.One(func(i *Image) string { return i.OwnerID })
	device := func(f func(ImageDevice) string) func(*Image) []string {
		return func(i *Image) (all []string) {
			for _, d := range i.Devices {
				all = append(all, f(d))
			}
			return all
		}
	}
	return world.Fields[*Image]{
		"block-device-mapping.delete-on-termination": device(func(ImageDevice) string { return "true" }),
		"block-device-mapping.device-name":           device(func(d ImageDevice) string { return d.Name }),
		"block-device-mapping.encrypted":             device(func(ImageDevice) string { return "false" }),
		"block-device-mapping.snapshot-id":           device(func(d ImageDevice) string { return d.Snapshot }),
		"block-device-mapping.volume-size":           device(func(d ImageDevice) string { return strconv.Itoa(d.SizeGiB) }),
		"block-device-mapping.volume-type":           device(func(d ImageDevice) string { return d.Type }),
		"manifest-location":                          world.One((*Image).location),
		"sriov-net-support":                          world.One(func(*Image) string { return "simple" }),
		"architecture":                               world.One(func(i *Image) string { return i.Architecture }),
		"creation-date":                              world.One(func(i *Image) string { return world.ImageTime(i.CreatedAt) }),
		"description":                                world.One(func(i *Image) string { return i.Description }),
		"ena-support":                                world.One(func(*Image) string { return "true" }),
		"hypervisor":                                 world.One(func(*Image) string { return "xen" }),
		"image-id":                                   world.One(func(i *Image) string { return i.ID }),
		"image-type":                                 world.One(func(*Image) string { return "machine" }),
		"is-public":                                  world.One(func(i *Image) string { return world.BoolText(s.public(i)) }),
		"name":                                       world.One(func(i *Image) string { return i.Name }),
		"owner-alias":                                func(i *Image) []string { return world.UnlessEmpty(i.OwnerAlias) },
		"owner-id":                                   owner,
		"platform":                                   func(i *Image) []string { return world.UnlessEmpty(ImageAnswer(i).Platform) },
		"root-device-name":                           world.One(func(i *Image) string { return i.RootDevice }),
		"root-device-type":                           world.One(func(*Image) string { return "ebs" }),
		"state":                                      world.One(func(*Image) string { return "available" }),
		"virtualization-type":                        world.One(func(*Image) string { return "hvm" }),
	}.Lacking("kernel-id", "product-code", "product-code.type", "ramdisk-id", "source-image-id", "source-image-region", "source-instance-id",
		"state-reason-code", "state-reason-message")
}
