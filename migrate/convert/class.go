package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
)

// class is an EC2NodeClass that was made.
type class struct {
	from   *subject
	out    *awsv1.EC2NodeClass
	older  bool // made of the oldest generation, whose settings hold for it
	inline bool // made of a Provisioner
}

func (c *converter) template(s *subject, t *awsv1alpha1.AWSNodeTemplate) {
	reportWarnings(s, validate.AWSNodeTemplate(t))
	leftOut(s, t.ObjectMeta)
	c.class(s, "spec", t.ObjectMeta, &t.Spec, false)
}

// inline makes the class of a Provisioner's own settings.
func (c *converter) inline(s *subject, p *v1alpha5.Provisioner) {
	s.note(Maps, "spec.provider", "EC2NodeClass %s, which spec.template.spec.nodeClassRef names", p.Name)
	c.class(s, "spec.provider", metav1.ObjectMeta{Name: p.Name}, &awsv1alpha1.AWSNodeTemplateSpec{AWS: p.Spec.Provider.AWS}, true)
}

func (c *converter) class(s *subject, field string, m metav1.ObjectMeta, t *awsv1alpha1.AWSNodeTemplateSpec, inline bool) {
	if t.LaunchTemplate != nil {
		s.note(Refuses, field+".launchTemplate", "an EC2NodeClass has none: write what launch template %s says as userData, blockDeviceMappings, "+
			"metadataOptions, instanceProfile, securityGroupSelector and amiSelector, remove launchTemplate, and convert again", *t.LaunchTemplate)
		return
	}
	out := &awsv1.EC2NodeClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: awsv1.GroupVersion.String(), Kind: "EC2NodeClass"},
		ObjectMeta: meta(m),
		Spec:       awsv1.EC2NodeClassSpec{UserData: t.UserData, DetailedMonitoring: t.DetailedMonitoring, Context: t.Context},
	}
	for _, x := range combined(s, field+".subnetSelector", t.SubnetSelector) {
		out.Spec.SubnetSelectorTerms = append(out.Spec.SubnetSelectorTerms, awsv1.SubnetSelectorTerm{ID: x.id, Tags: x.tags})
	}
	for _, x := range combined(s, field+".securityGroupSelector", t.SecurityGroupSelector) {
		out.Spec.SecurityGroupSelectorTerms = append(out.Spec.SecurityGroupSelectorTerms, awsv1.SecurityGroupSelectorTerm{ID: x.id, Tags: x.tags})
	}
	c.images(s, field, t, out)
	c.identity(s, field, t, out)
	c.tags(s, field, t, out)
	out.Spec.MetadataOptions = metadata(s, field+".metadataOptions", t.MetadataOptions)
	devices(s, field+".blockDeviceMappings", t, out)
	s.maps(t.UserData != nil, field+".userData", "spec.userData")
	s.maps(t.DetailedMonitoring != nil, field+".detailedMonitoring", "spec.detailedMonitoring")
	s.maps(t.Context != nil, field+".context", "spec.context")
	c.classes = append(c.classes, &class{from: s, out: out, older: true, inline: inline})
}

// termsMost is how many terms a selector of the newest generation may have.
const termsMost = 30

// chosen is one term of a selector.
type chosen struct {
	id   string
	tags map[string]string
}

// combined are the terms of a selector: one for each ID, or one for each combination of
// what stands between commas.
func combined(s *subject, field string, from awsv1alpha1.Selector) []chosen {
	if len(from) == 0 {
		s.note(Refuses, field, "names no tag and no id, so there is nothing to select by: name a tag")
		return nil
	}
	tags := from.Plain()
	var out []chosen
	ids := append(named(tags[awsv1alpha1.SelectIDs]), named(tags[awsv1alpha1.SelectAWSIDs])...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	delete(tags, awsv1alpha1.SelectIDs)
	delete(tags, awsv1alpha1.SelectAWSIDs)
	if len(ids) == 0 {
		for _, one := range products(tags) {
			out = append(out, chosen{tags: one})
		}
	}
	for _, id := range ids {
		out = append(out, chosen{id: id})
	}
	if len(ids) > 0 && len(tags) > 0 {
		s.note(Changes, field, "%s left out beside ids, which decide alone: see that every one of them has it", strings.Join(slices.Sorted(maps.Keys(tags)), ", "))
	}
	if len(out) > termsMost {
		s.note(Refuses, field, "comes to %d terms, and there may be %d: name fewer values between commas, or one tag that all have", len(out), termsMost)
		return nil
	}
	s.note(Maps, field, "%sTerms, %d of them", strings.Replace(lastOf(field), "spec.", "", 1), len(out))
	return out
}

func lastOf(field string) string { return field[strings.LastIndex(field, ".")+1:] }

// products are all ways to choose one value of each comma list; more than the most of
// terms are not listed in full.
func products(tags map[string]string) []map[string]string {
	out := []map[string]string{{}}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		var next []map[string]string
		for _, before := range out {
			for _, value := range named(tags[key]) {
				one := maps.Clone(before)
				one[key] = value
				next = append(next, one)
			}
		}
		if out = next; len(out) > 1000 {
			return out
		}
	}
	return out
}

// aliases are those of families that have images of their own.
var aliases = map[awsv1alpha1.AMIFamily]string{
	awsv1alpha1.FamilyAL2: "al2@latest", awsv1alpha1.FamilyBottlerocket: "bottlerocket@latest",
	awsv1alpha1.FamilyWindows2019: "windows2019@latest", awsv1alpha1.FamilyWindows2022: "windows2022@latest",
}

const al2023 = "al2023@latest"

// withoutAL2 reports whether there are no images of AL2 for a version of Kubernetes.
func withoutAL2(kubernetes string) bool { return minorOf(kubernetes) > 32 }

// ubuntuFor is the release of Ubuntu that a Provisioner's nodes have for a version of
// Kubernetes.
func ubuntuFor(kubernetes string) string {
	if minorOf(kubernetes) > 28 {
		return "22.04"
	}
	return "20.04"
}

// minorOf is 27 of 1.27; 0: the version is not known.
func minorOf(kubernetes string) int {
	_, text, _ := strings.Cut(kubernetes, ".")
	minor, _ := strconv.Atoi(text)
	return minor
}

// images turns family and selector of images.
func (c *converter) images(s *subject, field string, t *awsv1alpha1.AWSNodeTemplateSpec, out *awsv1.EC2NodeClass) {
	family := t.Family()
	if family == awsv1alpha1.FamilyAL2 && len(t.AMISelector) == 0 && withoutAL2(c.Kubernetes) {
		s.note(Changes, field+".amiFamily", "there are no images of AL2 for Kubernetes %s: alias %s, whose nodes run userData as parts of one MIME document beside their own set-up", c.Kubernetes, al2023)
		out.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: al2023}}
		return
	}
	at := field
	if t.AMIFamily != nil {
		at = field + ".amiFamily"
	}
	written := awsv1.AMIFamily(family)
	switch {
	case family == awsv1alpha1.FamilyUbuntu:
		written = awsv1.FamilyAL2
		s.note(Changes, at, "there is no family Ubuntu: nodes are set up as those of AL2 are, with images of Canonical")
	case family == awsv1alpha1.FamilyAL2 && t.AMIFamily == nil:
		s.note(Maps, at, "no amiFamily means AL2, which is written out")
	default:
		s.note(Maps, at, "amiFamily %s", family)
	}
	if family == awsv1alpha1.FamilyAL2 && len(t.AMISelector) == 0 && c.Kubernetes == "" {
		s.note(Changes, at, "alias %s has no images for Kubernetes 1.33 and later: go over to al2023@latest before, whose user data is another", aliases[family])
	}
	if family == awsv1alpha1.FamilyCustom {
		s.note(Changes, at, "user data of the family Custom must have the kubelet register the taint karpenter.sh/unregistered:NoExecute now")
	}
	switch {
	case len(t.AMISelector) > 0:
		out.Spec.AMIFamily = &written
		out.Spec.AMISelectorTerms = imageTerms(s, field+".amiSelector", t.AMISelector)
	case family != awsv1alpha1.FamilyUbuntu:
		out.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: aliases[family]}}
	case c.Kubernetes == "":
		s.note(Refuses, at, "images of Ubuntu are published for each version of Kubernetes: give --kubernetes-version, or an amiSelector")
	default:
		out.Spec.AMIFamily = &written
		release := ubuntuFor(c.Kubernetes)
		for _, arch := range []string{"amd64", "arm64"} {
			out.Spec.AMISelectorTerms = append(out.Spec.AMISelectorTerms, awsv1.AMISelectorTerm{SSMParameter: fmt.Sprintf(
				"/aws/service/canonical/ubuntu/eks/%s/%s/stable/current/%s/hvm/ebs-gp2/ami-id", release, c.Kubernetes, arch)})
		}
		s.note(Changes, at, "images are those of Ubuntu %s for Kubernetes %s; after an upgrade of the cluster the version in ssmParameter is to be raised by hand", release, c.Kubernetes)
	}
}

func imageTerms(s *subject, field string, from awsv1alpha1.Selector) []awsv1.AMISelectorTerm {
	tags := from.Plain()
	names, owners := named(tags[awsv1alpha1.SelectAWSNames]), named(tags[awsv1alpha1.SelectOwners])
	delete(tags, awsv1alpha1.SelectAWSNames)
	delete(tags, awsv1alpha1.SelectOwners)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if api.IsWellKnownToProvisioner(key) {
			s.note(Loses, field+"["+key+"]", "tags of images do not limit instances any more: the tag selects images still, "+
				"and what it says belongs into the requirements of the NodePool, with a class for each image")
		}
	}
	var out []awsv1.AMISelectorTerm
	_, ids := tags[awsv1alpha1.SelectIDs]
	_, awsIDs := tags[awsv1alpha1.SelectAWSIDs]
	if ids || awsIDs {
		if len(names)+len(owners) > 0 {
			s.note(Changes, field, "names and owners are left out beside ids, which decide alone")
		}
		for _, x := range combined(s, field, without(from, awsv1alpha1.SelectAWSNames, awsv1alpha1.SelectOwners)) {
			out = append(out, awsv1.AMISelectorTerm{ID: x.id})
		}
		return out
	}
	if len(names) == 0 && len(tags) == 0 {
		names = []string{"*"} // an owner alone selects nothing now
	}
	for _, one := range products(tags) {
		if len(one) == 0 {
			one = nil
		}
		for _, name := range orNone(names) {
			for _, owner := range orNone(owners) {
				out = append(out, awsv1.AMISelectorTerm{Name: name, Owner: owner, Tags: one})
			}
		}
	}
	if len(out) > termsMost {
		s.note(Refuses, field, "comes to %d terms, and there may be %d: name fewer values between commas, or one tag that all have", len(out), termsMost)
		return nil
	}
	s.note(Maps, field, "amiSelectorTerms, %d of them", len(out))
	return out
}

func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// identity turns what nodes may do at AWS.
func (c *converter) identity(s *subject, field string, t *awsv1alpha1.AWSNodeTemplateSpec, out *awsv1.EC2NodeClass) {
	switch {
	case t.InstanceProfile != nil:
		out.Spec.InstanceProfile = t.InstanceProfile
		s.note(Maps, field+".instanceProfile", "spec.instanceProfile")
	case c.settings != nil && c.settings.profile != "":
		out.Spec.InstanceProfile = new(c.settings.profile)
		s.note(Maps, field, "no instanceProfile: that of %s", settingsName)
	case c.Role != "":
		out.Spec.Role = c.Role
		s.note(Changes, field, "no instanceProfile: role %s, for which the controller makes one", c.Role)
	default:
		s.note(Refuses, field, "names no instanceProfile: give --role NAME, or the ConfigMap %s with aws.defaultInstanceProfile", settingsName)
	}
}

func (c *converter) tags(s *subject, field string, t *awsv1alpha1.AWSNodeTemplateSpec, out *awsv1.EC2NodeClass) {
	tags := map[string]string{}
	if c.settings != nil {
		maps.Copy(tags, c.settings.tags)
	}
	maps.Copy(tags, t.Tags.Plain())
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if reserved(key) {
			delete(tags, key)
			s.note(Loses, field+".tags["+key+"]", "may not be set any more, the controller does: it is left out")
		}
	}
	if name, own := tags["Name"]; own {
		s.note(Maps, field+".tags[Name]", "instances are named %s, as they were", name)
	}
	s.maps(t.Tags != nil, field+".tags", "spec.tags")
	if len(tags) > 0 {
		out.Spec.Tags = tags
	}
}

// reserved reports whether no class may set the tag.
func reserved(key string) bool {
	return slices.Contains([]string{api.TagEKSCluster, api.TagNodePool, api.TagProvisioner, api.TagNodeClaim, api.TagNodeClass, api.TagClusterUID, api.TagBatch}, key) ||
		strings.HasPrefix(key, "kubernetes.io/cluster")
}

// metadata writes out what was the default, which is another now.
func metadata(s *subject, field string, m *awsv1alpha1.MetadataOptions) *awsv1.MetadataOptions {
	out := &awsv1.MetadataOptions{HTTPEndpoint: new("enabled"), HTTPProtocolIPv6: new("disabled"), HTTPPutResponseHopLimit: new(int64(2)), HTTPTokens: new("required")}
	if m == nil {
		s.note(Maps, strings.TrimSuffix(field, ".metadataOptions"), "no metadataOptions: spec.metadataOptions as they were, with hop limit 2, which is not the default now")
		return out
	}
	out.HTTPPutResponseHopLimit, out.HTTPTokens = new(int64(1)), new("optional") // of EC2
	over(&out.HTTPEndpoint, m.HTTPEndpoint)
	over(&out.HTTPProtocolIPv6, m.HTTPProtocolIPv6)
	over(&out.HTTPPutResponseHopLimit, m.HTTPPutResponseHopLimit)
	over(&out.HTTPTokens, m.HTTPTokens)
	s.note(Maps, field, "spec.metadataOptions, with EC2's own defaults written out: hop limit %d, tokens %s", *out.HTTPPutResponseHopLimit, *out.HTTPTokens)
	return out
}

func over[T any](at **T, value *T) {
	if value != nil {
		*at = value
	}
}

// ubuntuRoot is the device that nodes of Ubuntu keep their files on.
const ubuntuRoot = "/dev/sda1"

func devices(s *subject, field string, t *awsv1alpha1.AWSNodeTemplateSpec, out *awsv1.EC2NodeClass) {
	for i, d := range t.BlockDeviceMappings {
		e := d.EBS
		ebs := &awsv1.BlockDevice{DeleteOnTermination: e.DeleteOnTermination, Encrypted: e.Encrypted, IOPS: e.IOPS, KMSKeyID: e.KMSKeyID,
			SnapshotID: e.SnapshotID, Throughput: e.Throughput, VolumeType: e.VolumeType}
		if e.VolumeSize != nil {
			ebs.VolumeSize = volumeSize(s, fmt.Sprintf("%s[%d].ebs.volumeSize", field, i), *e.VolumeSize)
		}
		out.Spec.BlockDeviceMappings = append(out.Spec.BlockDeviceMappings, awsv1.BlockDeviceMapping{
			DeviceName: new(d.DeviceName), EBS: ebs, RootVolume: t.Family() == awsv1alpha1.FamilyUbuntu && d.DeviceName == ubuntuRoot,
		})
	}
	s.maps(len(t.BlockDeviceMappings) > 0, field, "spec.blockDeviceMappings")
	if t.Family() == awsv1alpha1.FamilyUbuntu && len(t.BlockDeviceMappings) == 0 {
		out.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new(ubuntuRoot), RootVolume: true,
			EBS: &awsv1.BlockDevice{DeleteOnTermination: new(true), Encrypted: new(true), VolumeType: new("gp3"), VolumeSize: new(awsv1.VolumeSize("20Gi"))}}}
		s.note(Maps, strings.TrimSuffix(field, ".blockDeviceMappings"), "no blockDeviceMappings: the volume that Ubuntu had, 20Gi at %s, is written out", ubuntuRoot)
	}
}

var sized = regexp.MustCompile(`^[1-9][0-9]*(Gi|G|Ti|T)$`)

// volumeSize is a size as it may be written now, rounded up where it must be.
func volumeSize(s *subject, field string, q resource.Quantity) *awsv1.VolumeSize {
	text := q.String()
	if !sized.MatchString(text) {
		text = fmt.Sprintf("%dGi", int64(math.Ceil(float64(q.Value())/(1<<30))))
		s.note(Changes, field, "%s is rounded up to %s", q.String(), text)
	}
	return new(awsv1.VolumeSize(text))
}

func without(from awsv1alpha1.Selector, keys ...string) awsv1alpha1.Selector {
	out := maps.Clone(from)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// anyValue writes what guides once meant by an empty value of a selector: any.
func anyValue(s *subject, path ...string) {
	object := fields{}
	if utiljson.Unmarshal(s.JSON, &object) != nil {
		return // reported where it is read
	}
	found := false
	for _, name := range []string{"subnetSelector", "securityGroupSelector", "amiSelector"} {
		selector := at(object, append(slices.Clone(path), name)...)
		for _, key := range slices.Sorted(maps.Keys(selector)) {
			if selector[key] != "" || strings.HasPrefix(key, "aws::") || key == awsv1alpha1.SelectIDs {
				continue
			}
			selector[key], found = "*", true
			s.note(Maps, strings.Join(path, ".")+"."+name+"["+key+"]", `an empty value means any, which is "*"`)
		}
	}
	if data, err := json.Marshal(object); err == nil && found {
		s.JSON = data
	}
}
