package convert

import (
	"encoding/json"
	"fmt"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// The versions between the oldest generation and the newest.
const (
	betaPool  = api.GroupKarpenter + "/v1beta1"
	betaClass = api.GroupAWS + "/v1beta1"
)

// Compatibility begins the annotations that hold what the conversion webhook of the first
// release of v1 had no field for.
const Compatibility = "compatibility.karpenter.sh/"

const (
	betaKubeletKept    = Compatibility + "v1beta1-kubelet-conversion"
	betaReferenceKept  = Compatibility + "v1beta1-nodeclass-reference"
	annotationInReport = "metadata.annotations[%s]"
)

// newest takes in a NodePool of v1. It stays as it is but for what a conversion webhook
// left in its annotations.
func (c *converter) newest(s *subject, p *karpv1.NodePool) {
	made := &pool{from: s, out: p, class: p.Spec.Template.Spec.NodeClassRef.Name}
	if text, kept := p.Annotations[betaKubeletKept]; kept {
		made.field = fmt.Sprintf(annotationInReport, betaKubeletKept)
		made.kubelet = betaKubelet(s, made.field, json.RawMessage(text))
		s.note(Changes, made.field, "held for nodes of the releases 1.0 alone, from 1.1 on the kubelet of the class did")
	}
	if _, kept := p.Annotations[betaReferenceKept]; kept {
		s.note(Maps, fmt.Sprintf(annotationInReport, betaReferenceKept), "has done its work and is left out")
	}
	s.note(Maps, "", "is of the newest generation and stays as it is")
	p.ObjectMeta = meta(p.ObjectMeta, betaKubeletKept, betaReferenceKept)
	c.pools = append(c.pools, made)
}

// fields are those of an object in a manifest.
type fields = map[string]any

// at is the object that a path of names leads to; nil: there is none.
func at(in fields, names ...string) fields {
	for _, name := range names {
		in, _ = in[name].(fields)
	}
	return in
}

// rewritten is a document with other fields, as its type reads it.
func (c *converter) rewritten(s *subject, version string, change func(fields)) bool {
	object := fields{}
	if err := utiljson.Unmarshal(s.JSON, &object); err != nil {
		s.note(Refuses, "", "%s", err)
		return false
	}
	object["apiVersion"] = version
	delete(object, "status")
	if annotations := at(object, "metadata", "annotations"); annotations != nil {
		delete(annotations, lastApplied)
	}
	change(object)
	data, err := json.Marshal(object)
	if err != nil {
		s.note(Refuses, "", "%s", err)
		return false
	}
	s.APIVersion, s.JSON = version, data
	return !s.refused()
}

// betaNodePool turns a NodePool of v1beta1.
func (c *converter) betaNodePool(s *subject) {
	made := &pool{from: s, out: &karpv1.NodePool{}, field: "spec.template.spec.kubelet"}
	ok := c.rewritten(s, karpv1.GroupVersion.String(), func(o fields) {
		spec := at(o, "spec", "template", "spec")
		if spec == nil {
			return // refused by what a NodePool must have
		}
		ref := at(spec, "nodeClassRef")
		if ref == nil {
			ref = fields{}
			spec["nodeClassRef"] = ref
		}
		if kind, _ := ref["kind"].(string); kind != "" && kind != "EC2NodeClass" {
			s.note(Changes, "spec.template.spec.nodeClassRef.kind", "%s becomes EC2NodeClass", kind)
		}
		if version, _ := ref["apiVersion"].(string); version != "" && !strings.HasPrefix(version, api.GroupAWS+"/") {
			s.note(Refuses, "spec.template.spec.nodeClassRef.apiVersion", "%s is of another provider, whose classes are not known here: leave this NodePool to it", version)
			return
		}
		delete(ref, "apiVersion")
		ref["group"], ref["kind"] = api.GroupAWS, "EC2NodeClass"
		s.note(Maps, "spec.template.spec.nodeClassRef", "with group in place of apiVersion")
		if kubelet, said := spec["kubelet"]; said {
			delete(spec, "kubelet")
			made.kubelet = betaKubelet(s, made.field, kubelet)
		}
		betaRemoval(s, at(o, "spec"), spec)
	})
	if ok && c.checks.admits(s, made.out) {
		s.note(Maps, "", "all else stays as it is")
		made.out.ObjectMeta = meta(made.out.ObjectMeta)
		made.class = made.out.Spec.Template.Spec.NodeClassRef.Name
		made.out.Spec.Template.Spec.NodeClassRef.Kind = "" // until it is joined with its class
		c.pools = append(c.pools, made)
	}
}

// betaRemoval turns what says when nodes go.
func betaRemoval(s *subject, pool, instance fields) {
	d := at(pool, "disruption")
	if d == nil {
		d = fields{}
		pool["disruption"] = d
	}
	if after, said := d["expireAfter"]; said {
		delete(d, "expireAfter")
		instance["expireAfter"] = after
		s.note(Changes, "spec.disruption.expireAfter", "becomes spec.template.spec.expireAfter, at which nodes go whatever runs on them; set terminationGracePeriod only if pods may be cut off")
	}
	if policy, _ := d["consolidationPolicy"].(string); policy == "" || policy == "WhenUnderutilized" {
		d["consolidationPolicy"], d["consolidateAfter"] = string(karpv1.ConsolidateWhenEmptyOrUnderutilized), "0s"
		s.note(Maps, "spec.disruption", "consolidationPolicy WhenEmptyOrUnderutilized with consolidateAfter 0s")
	}
}

// betaKubelet reads the settings of a kubelet as a class has them.
func betaKubelet(s *subject, field string, from any) *awsv1.Kubelet {
	out := &awsv1.Kubelet{}
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		s.note(Refuses, field, "cannot be read: %s", err)
		return nil
	}
	s.note(Maps, field, "spec.kubelet of its EC2NodeClass")
	if keyOf(out) == "{}" {
		return nil
	}
	return out
}

// betaNodeClass turns an EC2NodeClass of v1beta1.
func (c *converter) betaNodeClass(s *subject) {
	made := &class{from: s, out: &awsv1.EC2NodeClass{}}
	ok := c.rewritten(s, awsv1.GroupVersion.String(), func(o fields) {
		spec := at(o, "spec")
		if spec == nil {
			return // refused by what a class must have
		}
		c.betaImages(s, spec)
		options := at(spec, "metadataOptions")
		if options == nil {
			options = fields{}
			spec["metadataOptions"] = options
		}
		for name, value := range map[string]any{"httpEndpoint": "enabled", "httpProtocolIPv6": "disabled", "httpPutResponseHopLimit": int64(2), "httpTokens": "required"} {
			if _, said := options[name]; !said {
				options[name] = value
			}
		}
		s.note(Maps, "spec.metadataOptions", "with the defaults that held written out: hop limit 2")
		if role, _ := spec["role"].(string); role == "" && spec["instanceProfile"] == nil && c.Role != "" {
			spec["role"] = c.Role
			s.note(Changes, "spec.role", "is %s", c.Role)
		}
	})
	if ok && c.checks.admits(s, made.out) {
		s.note(Maps, "", "all else stays as it is")
		made.out.ObjectMeta = meta(made.out.ObjectMeta)
		c.classes = append(c.classes, made)
	}
}

// betaImages turns the family, which chose images where no terms did.
func (c *converter) betaImages(s *subject, spec fields) {
	family, _ := spec["amiFamily"].(string)
	terms, _ := spec["amiSelectorTerms"].([]any)
	if family == "" {
		family = "AL2"
	}
	switch {
	case family == "Ubuntu" && len(terms) == 0:
		s.note(Refuses, "spec.amiFamily", "there is no family Ubuntu: select the images of Canonical by amiSelectorTerms, and convert again")
	case family == "Ubuntu":
		spec["amiFamily"] = "AL2"
		if spec["blockDeviceMappings"] == nil {
			spec["blockDeviceMappings"] = []any{fields{"deviceName": ubuntuRoot, "rootVolume": true, "ebs": fields{"deleteOnTermination": true, "encrypted": true, "volumeSize": "20Gi", "volumeType": "gp3"}}}
		}
		s.note(Changes, "spec.amiFamily", "there is no family Ubuntu: nodes are set up as those of AL2 are, and the volume %s is written out", ubuntuRoot)
	case len(terms) > 0 || family == "Custom":
		spec["amiFamily"] = family
		s.note(Maps, "spec.amiFamily", "%s", family)
	default:
		alias := strings.ToLower(family) + "@latest"
		replaced := family == "AL2" && withoutAL2(c.Kubernetes)
		if replaced {
			alias = al2023
		}
		delete(spec, "amiFamily")
		spec["amiSelectorTerms"] = []any{fields{"alias": alias}}
		s.note(Maps, "spec.amiFamily", "amiSelectorTerms with alias %s", alias)
		switch {
		case replaced:
			s.note(Changes, "spec.amiFamily", "there are no images of AL2 for Kubernetes %s: nodes are of AL2023, and run userData as parts of one MIME document beside their own set-up", c.Kubernetes)
		case family == "AL2" && c.Kubernetes == "":
			s.note(Changes, "spec.amiFamily", "alias %s has no images for Kubernetes 1.33 and later: go over to al2023@latest before, whose user data is another", alias)
		}
	}
	if family == "Custom" {
		s.note(Changes, "spec.amiFamily", "user data of the family Custom must have the kubelet register the taint karpenter.sh/unregistered:NoExecute now")
	}
}
