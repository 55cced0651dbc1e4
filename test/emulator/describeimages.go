package emulator

import (
	"slices"
	"strconv"
	"time"
)

type imageXML struct {
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
	Tags         tags             `xml:"tagSet>item"`
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
func deprecation(i *image) string {
	if i.DeprecatedAt.IsZero() {
		return ""
	}
	return imageTime(i.DeprecatedAt)
}

// describeImages leaves deprecated images out unless they are asked for, named by ID, or
// the account's own.
func describeImages(c *call) (any, error) {
	st := c.state()
	ids := c.params.Strings("ImageId")
	st.recallImages(c.params)
	chosen, err := chosenByID(ids, st.Images, func(i *image) string { return i.ID }, "InvalidAMIID.NotFound", "The image id '[%s]' does not exist")
	if err != nil {
		return nil, err
	}
	if !c.params.Bool("IncludeDeprecated") && len(ids) == 0 {
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(i *image) bool { return i.deprecated(c.now) && i.OwnerID != st.Account.ID })
	}
	chosen = ownedBy(chosen, c.params.Strings("Owner"), st.Account.ID)
	page, next, err := list[*image]{
		fields: st.imageFields(),
		tags:   func(i *image) tags { return i.Tags.searchable(c.now) },
		limits: pageLimits{1, 1000, 0},
		key:    func(i *image) string { return i.ID },
	}.page(c, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Images []imageXML `xml:"imagesSet>item"`
		Next   string     `xml:"nextToken,omitempty"`
	}
	for _, i := range page {
		x := imageAnswer(i)
		x.Public = st.public(i)
		answer.Images = append(answer.Images, x)
	}
	answer.Next = next
	return answer, nil
}

// public reports whether all accounts may launch an image, as they may all but the account's own.
func (s *state) public(i *image) bool { return i.OwnerID != s.Account.ID }

// ownedBy keeps the images of any of the owners: account numbers, aliases, or
// self. Aliases of AWS's own accounts all read amazon.
func ownedBy(images []*image, owners []string, self string) []*image {
	if len(owners) == 0 {
		return images
	}
	return slices.DeleteFunc(slices.Clone(images), func(i *image) bool {
		mine := slices.Contains(owners, "self") && i.OwnerID == self
		alias := i.OwnerAlias != "" && slices.Contains(owners, i.OwnerAlias)
		return !mine && !alias && !slices.Contains(owners, i.OwnerID)
	})
}

func imageAnswer(i *image) imageXML {
	x := imageXML{
		Architecture: i.Architecture, BootMode: "uefi-preferred", CreatedAt: imageTime(i.CreatedAt), DeprecatedAt: deprecation(i),
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

func (i *image) location() string {
	if i.OwnerAlias != "" {
		return i.OwnerAlias + "/" + i.Name
	}
	return i.OwnerID + "/" + i.Name
}

// imageTime is how EC2 writes the dates of images.
func imageTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *state) imageFields() fields[*image] {
	owner := one(func(i *image) string { return i.OwnerID })
	device := func(f func(imageDevice) string) func(*image) []string {
		return func(i *image) (all []string) {
			for _, d := range i.Devices {
				all = append(all, f(d))
			}
			return all
		}
	}
	return fields[*image]{
		"block-device-mapping.delete-on-termination": device(func(imageDevice) string { return "true" }),
		"block-device-mapping.device-name":           device(func(d imageDevice) string { return d.Name }),
		"block-device-mapping.encrypted":             device(func(imageDevice) string { return "false" }),
		"block-device-mapping.snapshot-id":           device(func(d imageDevice) string { return d.Snapshot }),
		"block-device-mapping.volume-size":           device(func(d imageDevice) string { return strconv.Itoa(d.SizeGiB) }),
		"block-device-mapping.volume-type":           device(func(d imageDevice) string { return d.Type }),
		"manifest-location":                          one((*image).location),
		"sriov-net-support":                          one(func(*image) string { return "simple" }),
		"architecture":                               one(func(i *image) string { return i.Architecture }),
		"creation-date":                              one(func(i *image) string { return imageTime(i.CreatedAt) }),
		"description":                                one(func(i *image) string { return i.Description }),
		"ena-support":                                one(func(*image) string { return "true" }),
		"hypervisor":                                 one(func(*image) string { return "xen" }),
		"image-id":                                   one(func(i *image) string { return i.ID }),
		"image-type":                                 one(func(*image) string { return "machine" }),
		"is-public":                                  one(func(i *image) string { return boolText(s.public(i)) }),
		"name":                                       one(func(i *image) string { return i.Name }),
		"owner-alias":                                func(i *image) []string { return unlessEmpty(i.OwnerAlias) },
		"owner-id":                                   owner,
		"platform":                                   func(i *image) []string { return unlessEmpty(imageAnswer(i).Platform) },
		"root-device-name":                           one(func(i *image) string { return i.RootDevice }),
		"root-device-type":                           one(func(*image) string { return "ebs" }),
		"state":                                      one(func(*image) string { return "available" }),
		"virtualization-type":                        one(func(*image) string { return "hvm" }),
	}.lacking("kernel-id", "product-code", "product-code.type", "ramdisk-id", "source-image-id", "source-image-region", "source-instance-id",
		"state-reason-code", "state-reason-message")
}
