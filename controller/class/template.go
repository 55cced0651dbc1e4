package class

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1alpha5 "github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
)

// Kinds of classes of the v1alpha5 API.
const (
	KindAWSNodeTemplate = awsv1alpha1.Kind
	KindProvisioner     = "Provisioner"
)

// Usual is what holds for classes of the v1alpha5 API that say nothing else.
type Usual struct {
	InstanceProfile string
	Tags            map[string]string // of instances, before those that the class names
	ManyPods        bool              // instances run as many pods as kubelets do, whatever addresses they have
	NoPodInterfaces bool              // instances offer pods no interfaces of their own
}

// Account is what is known beside classes of the v1alpha5 API. Its zero value knows
// nothing; it is safe for concurrent use.
type Account struct {
	usual      atomic.Pointer[Usual]
	kubernetes atomic.Int64 // minor version of the API server; 0: not known yet
}

// Set has another Usual hold from now on. It is not written any more.
func (a *Account) Set(u Usual) { a.usual.Store(&u) }

func (a *Account) now() Usual {
	if u := a.usual.Load(); u != nil {
		return *u
	}
	return Usual{}
}

// learn takes in the version of the API server, such as "1.36".
func (a *Account) learn(version string) {
	if minor, known := nodeclass.Minor(version); known {
		a.kubernetes.Store(int64(minor))
	}
}

// learned reports whether the version of the API server is known.
func (a *Account) learned() bool { return a.kubernetes.Load() != 0 }

// NodeTemplates is the Kind AWSNodeTemplate.
func NodeTemplates(account *Account) Kind {
	return Kind{
		Name: KindAWSNodeTemplate, Group: api.GroupAWS,
		New:     func() client.Object { return &awsv1alpha1.AWSNodeTemplate{} },
		NewList: func() client.ObjectList { return &awsv1alpha1.AWSNodeTemplateList{} },
		Spec: func(o client.Object) (nodeclass.Spec, error) {
			return specOfTemplate(&o.(*awsv1alpha1.AWSNodeTemplate).Spec, account), nil
		},
		Status: func(o client.Object) awsv1.EC2NodeClassStatus {
			return statusOfTemplate(&o.(*awsv1alpha1.AWSNodeTemplate).Status)
		},
		SetStatus: func(o client.Object, s awsv1.EC2NodeClassStatus) {
			o.(*awsv1alpha1.AWSNodeTemplate).Status = *templateStatus(s)
		},
		Learn: account.learn, Learned: account.learned,
		Validate: func(o client.Object) []validate.Finding {
			return validate.AWSNodeTemplate(o.(*awsv1alpha1.AWSNodeTemplate))
		},
		Made: func(o client.Object) string {
			return fingerprint.Version + "/" + fingerprint.AWSNodeTemplate(o.(*awsv1alpha1.AWSNodeTemplate), fingerprint.Cluster{})
		},
		Words: func(o client.Object) []string { return wordsOf("spec", &o.(*awsv1alpha1.AWSNodeTemplate).Spec) },
		Replaced: func(o client.Object) string {
			return account.replaced("spec", &o.(*awsv1alpha1.AWSNodeTemplate).Spec)
		},
	}
}

// Provisioners is the Kind of Provisioners as the classes of their instances: those with
// settings inline by themselves, others by their template. What they say of kubelets comes
// on top of either.
func Provisioners(account *Account) Kind {
	inline := func(o client.Object) *awsv1alpha1.AWSNodeTemplateSpec {
		return &awsv1alpha1.AWSNodeTemplateSpec{AWS: o.(*karpv1alpha5.Provisioner).Spec.Provider.AWS}
	}
	kind := Kind{
		Name: KindProvisioner, Group: api.GroupKarpenter,
		New:     func() client.Object { return &karpv1alpha5.Provisioner{} },
		NewList: func() client.ObjectList { return &karpv1alpha5.ProvisionerList{} },
		Is:      func(o client.Object) bool { return o.(*karpv1alpha5.Provisioner).Spec.Provider != nil },
		Spec: func(o client.Object) (nodeclass.Spec, error) {
			c := &Subject{Spec: specOfTemplate(inline(o), account)}
			withKubelet(c, o.(*karpv1alpha5.Provisioner))
			return c.Spec, c.Unread
		},
		Status: func(o client.Object) awsv1.EC2NodeClassStatus {
			if s := o.(*karpv1alpha5.Provisioner).Status.Provider; s != nil {
				return statusOfTemplate(s)
			}
			return awsv1.EC2NodeClassStatus{}
		},
		SetStatus: func(o client.Object, s awsv1.EC2NodeClassStatus) {
			o.(*karpv1alpha5.Provisioner).Status.Provider = templateStatus(s)
		},
		Learn:    account.learn,
		Learned:  account.learned,
		Validate: func(client.Object) []validate.Finding { return nil }, // the loop over Provisioners does
		Words:    func(o client.Object) []string { return wordsOf("spec.provider", inline(o)) },
		Replaced: func(o client.Object) string { return account.replaced("spec.provider", inline(o)) },
	}
	templates := NodeTemplates(account)
	kind.Read = func(ctx context.Context, from client.Reader, name string) (*Subject, error) {
		p := &karpv1alpha5.Provisioner{}
		if err := from.Get(ctx, client.ObjectKey{Name: name}, p); err != nil {
			return nil, err
		}
		template, named := p.Spec.Template()
		if !named {
			return withKubelet(kind.Of(p), p), nil
		}
		t := &awsv1alpha1.AWSNodeTemplate{}
		if err := from.Get(ctx, client.ObjectKey{Name: template}, t); err != nil {
			return nil, err
		}
		return withKubelet(templates.Of(t), p), nil
	}
	return kind
}

// podsOfKubelet is how many pods a kubelet runs where nothing is said.
const podsOfKubelet = 110

// withKubelet is a class with what a Provisioner says of its kubelets: for those that do,
// it is another class than for those that do not.
func withKubelet(c *Subject, p *karpv1alpha5.Provisioner) *Subject {
	if p.Spec.KubeletConfiguration == nil {
		return c
	}
	c.For = p.Name
	usual := c.Spec.Kubelet.MaxPods
	kubelet := *p.Spec.KubeletConfiguration
	kubelet.ContainerRuntime = nil               // no kubelet has such a field
	if c.Spec.Family == nodeclass.Bottlerocket { // whose settings lack them, which is reported
		kubelet.EvictionSoft, kubelet.EvictionSoftGracePeriod, kubelet.PodsPerCore = nil, nil, nil
		kubelet.SystemReserved, kubelet.KubeReserved = withoutPID(kubelet.SystemReserved), withoutPID(kubelet.KubeReserved)
	}
	document, err := json.Marshal(kubelet)
	if err == nil {
		c.Spec.Kubelet, err = nodeclass.ParseKubelet(document)
	}
	if c.Spec.Kubelet.MaxPods == nil {
		c.Spec.Kubelet.MaxPods = usual
	}
	if err != nil && c.Unread == nil {
		c.Unread = fmt.Errorf("spec.kubeletConfiguration of Provisioner %s: %w", p.Name, err)
	}
	return c
}

// withoutPID is what is reserved, without process IDs.
func withoutPID(reserved corev1.ResourceList) corev1.ResourceList {
	reserved = maps.Clone(reserved)
	delete(reserved, validate.ReservedPID)
	return reserved
}

// lastAL2 is the last version of Kubernetes that images of AL2 were published for.
const lastAL2 = 32

// withoutAL2 reports whether a template means AL2 by saying nothing, and there are no
// images of it.
func (a *Account) withoutAL2(t *awsv1alpha1.AWSNodeTemplateSpec) bool {
	return t.AMIFamily == nil && t.LaunchTemplate == nil && len(t.AMISelector) == 0 && a.kubernetes.Load() > lastAL2
}

// replaced says what is done where a template means AL2 and there are no images of it.
func (a *Account) replaced(field string, t *awsv1alpha1.AWSNodeTemplateSpec) string {
	if !a.withoutAL2(t) {
		return ""
	}
	carried := ""
	if value(t.UserData) != "" {
		carried = ", which run what spec.userData has beside their own set-up, as parts of one MIME document"
	}
	return fmt.Sprintf("%s sets no amiFamily, which means AL2, and Kubernetes 1.%d is the last version with images of AL2; this cluster has 1.%d, so nodes get images of AL2023%s; %s",
		field, lastAL2, a.kubernetes.Load(), carried, waysFromAL2)
}

// waysFromAL2 is what users of AL2 can do.
const waysFromAL2 = "move to an EC2NodeClass of the family AL2023, which daemok migrate writes, or set amiFamily to Bottlerocket"

// wordsOf are the fields of an EC2NodeClass, and advice that is for one, each followed by
// what it is to a template whose settings stand in field. The longer of two that begin
// alike come first.
func wordsOf(field string, t *awsv1alpha1.AWSNodeTemplateSpec) []string {
	images, profile := field+".amiSelector", field+".instanceProfile"
	if len(t.AMISelector) == 0 {
		images = field + ".amiFamily"
	}
	if t.InstanceProfile == nil {
		profile = "the setting aws.defaultInstanceProfile"
	}
	missing := "see that nothing else deletes launch templates that are tagged for the cluster"
	if t.LaunchTemplate != nil {
		missing = "name a launch template that exists in " + field + ".launchTemplate"
	}
	return []string{
		"see that nothing else deletes launch templates that are tagged for the cluster", missing,
		"alias al2 has no images", field + ".amiFamily AL2 has no images",
		"use al2023@latest or bottlerocket@latest", waysFromAL2,
		", by an alias such as al2023@latest if they need not be pinned", "",
		", or use an alias such as al2023@latest; releases of an alias are", "; a family's own are",
		"spec.subnetSelectorTerms", field + ".subnetSelector",
		"spec.securityGroupSelectorTerms", field + ".securityGroupSelector",
		"spec.amiSelectorTerms", images,
		"spec.amiFamily is ", familyIs(field, t),
		"spec.launchTemplate", field + ".launchTemplate",
		"spec.kubelet", "spec.kubeletConfiguration",
		"in spec.instanceProfile, or a role in spec.role", "in " + field + ".instanceProfile, or for all in the setting aws.defaultInstanceProfile",
		"spec.instanceProfile", profile,
	}
}

// familyIs begins what a text says of a template's family.
func familyIs(field string, t *awsv1alpha1.AWSNodeTemplateSpec) string {
	if t.AMIFamily == nil {
		return field + ".amiFamily is not set, which means "
	}
	return field + ".amiFamily is "
}

func specOfTemplate(t *awsv1alpha1.AWSNodeTemplateSpec, account *Account) nodeclass.Spec {
	usual := account.now()
	out := nodeclass.Spec{
		Family:            nodeclass.Family(t.Family()),
		UserData:          value(t.UserData),
		InstanceProfile:   usual.InstanceProfile,
		Tags:              maps.Clone(usual.Tags),
		DetailedMonitored: value(t.DetailedMonitoring),
		Metadata:          metadataOfTemplate(t.MetadataOptions),
		Context:           value(t.Context),
		ImageTagsAsked:    true,
		OlderLabels:       true,
		LaunchTemplate:    value(t.LaunchTemplate),
		NoPodInterfaces:   usual.NoPodInterfaces,
	}
	if usual.ManyPods {
		out.Kubelet.MaxPods = new(int64(podsOfKubelet))
	}
	if account.withoutAL2(t) {
		out.Family = nodeclass.AL2023
	}
	if t.InstanceProfile != nil {
		out.InstanceProfile = *t.InstanceProfile
	}
	for key, text := range t.Tags.Plain() {
		if out.Tags == nil {
			out.Tags = map[string]string{}
		}
		out.Tags[key] = text
	}
	maps.DeleteFunc(out.Tags, func(key, _ string) bool { return validate.SetsTag(key) }) // which is reported
	for _, s := range partsOf(t.SubnetSelector) {
		out.Subnets = append(out.Subnets, nodeclass.SubnetTerm{ID: s.id, Tags: s.tags, Commas: true})
	}
	for _, s := range partsOf(t.SecurityGroupSelector) {
		out.Groups = append(out.Groups, nodeclass.GroupTerm{ID: s.id, Tags: s.tags, Commas: true})
	}
	if out.LaunchTemplate == "" {
		out.Images = imagesOfTemplate(t, out.Family)
	}
	for _, d := range t.BlockDeviceMappings {
		out.BlockDevices = append(out.BlockDevices, nodeclass.BlockDevice{DeviceName: d.DeviceName, EBS: volumeOfTemplate(&d.EBS)})
	}
	return out
}

// part is one of what a selector selects: all that has these tags, of this ID where there
// is one.
type part struct {
	id   string
	tags map[string]string
}

// partsOf parts a selector by its IDs.
func partsOf(s awsv1alpha1.Selector) []part {
	tags := s.Plain()
	if len(tags) == 0 {
		return nil
	}
	ids := append(nodeclass.PartedByCommas(tags[awsv1alpha1.SelectIDs]), nodeclass.PartedByCommas(tags[awsv1alpha1.SelectAWSIDs])...)
	delete(tags, awsv1alpha1.SelectIDs)
	delete(tags, awsv1alpha1.SelectAWSIDs)
	if len(ids) == 0 {
		return []part{{tags: tags}}
	}
	var out []part
	for _, id := range ids {
		out = append(out, part{id, tags})
	}
	return out
}

// imagesOfTemplate are the family's own images where none are selected. Owners, names and
// IDs of a selector must hold together, each by any of its values.
func imagesOfTemplate(t *awsv1alpha1.AWSNodeTemplateSpec, family nodeclass.Family) []nodeclass.ImageTerm {
	alias := nodeclass.AliasOf(family)
	if len(t.AMISelector) == 0 && alias == "" {
		return nil
	}
	if len(t.AMISelector) == 0 {
		return []nodeclass.ImageTerm{{Alias: alias}}
	}
	var out []nodeclass.ImageTerm
	for _, p := range partsOf(t.AMISelector) {
		tags := maps.Clone(p.tags)
		names, owners := nodeclass.PartedByCommas(tags[awsv1alpha1.SelectAWSNames]), nodeclass.PartedByCommas(tags[awsv1alpha1.SelectOwners])
		delete(tags, awsv1alpha1.SelectAWSNames)
		delete(tags, awsv1alpha1.SelectOwners)
		for _, name := range orNone(names) {
			for _, owner := range orNone(owners) {
				out = append(out, nodeclass.ImageTerm{ID: p.id, Name: name, Owner: owner, Tags: tags, Commas: true})
			}
		}
	}
	return out
}

// orNone is the list, or one empty text where there is none.
func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// metadataOfTemplate is what the v1alpha5 API makes of options: where none are
// written, tokens are asked for and containers may ask too; of those that are written in
// part, the others are EC2's own.
func metadataOfTemplate(m *awsv1alpha1.MetadataOptions) nodeclass.Metadata {
	if m == nil {
		return nodeclass.Metadata{Endpoint: "enabled", IPv6: "disabled", Tokens: "required", HopLimit: 2}
	}
	out := nodeclass.Metadata{
		Endpoint: orDefault(m.HTTPEndpoint, "enabled"), IPv6: orDefault(m.HTTPProtocolIPv6, "disabled"),
		Tokens: orDefault(m.HTTPTokens, "optional"), HopLimit: 1,
	}
	if m.HTTPPutResponseHopLimit != nil {
		out.HopLimit = int32(*m.HTTPPutResponseHopLimit)
	}
	return out
}

func volumeOfTemplate(d *awsv1alpha1.BlockDevice) *nodeclass.EBS {
	out := &nodeclass.EBS{
		DeleteOnTermination: d.DeleteOnTermination,
		Encrypted:           d.Encrypted,
		IOPS:                d.IOPS,
		Throughput:          d.Throughput,
		KMSKeyID:            value(d.KMSKeyID),
		SnapshotID:          value(d.SnapshotID),
		VolumeType:          value(d.VolumeType),
	}
	if d.VolumeSize != nil {
		out.VolumeBytes = d.VolumeSize.Value()
	}
	return out
}

func statusOfTemplate(s *awsv1alpha1.AWSNodeTemplateStatus) awsv1.EC2NodeClassStatus {
	s = s.DeepCopy()
	return awsv1.EC2NodeClassStatus{Subnets: s.Subnets, SecurityGroups: s.SecurityGroups, AMIs: s.AMIs, InstanceProfile: s.InstanceProfile, Conditions: s.Conditions}
}

func templateStatus(s awsv1.EC2NodeClassStatus) *awsv1alpha1.AWSNodeTemplateStatus {
	return &awsv1alpha1.AWSNodeTemplateStatus{Subnets: s.Subnets, SecurityGroups: s.SecurityGroups, AMIs: s.AMIs, InstanceProfile: s.InstanceProfile, Conditions: s.Conditions}
}
