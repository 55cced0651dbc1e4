package validate

import (
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
)

// AWSNodeTemplate checks a template of the v1alpha5 API. Every error that
// a condition of an EC2NodeClass has a reason for carries it.
func AWSNodeTemplate(t *awsv1alpha1.AWSNodeTemplate) []Finding {
	var f findings
	s := &t.Spec
	f.unknownAnnotations(t.Annotations)
	f.awsSettings("spec", &s.AWS)
	f.userData(s.UserData)
	f.selector("spec.amiSelector", s.AMISelector,
		awsv1alpha1.SelectIDs, awsv1alpha1.SelectAWSIDs, awsv1alpha1.SelectAWSNames, awsv1alpha1.SelectOwners)
	switch {
	case s.AMISelector == nil || len(s.AMISelector) > 0:
	case s.Family() == awsv1alpha1.FamilyCustom:
		f.refuse("spec.amiSelector", "selects nothing, and amiFamily Custom has no images of its own: name a tag or an id")
	default:
		f.warn("spec.amiSelector", "is empty, so the images are those of the family: remove it")
	}
	return f.all
}

// awsSettings checks what templates and inline blocks have both.
func (f *findings) awsSettings(field string, a *awsv1alpha1.AWS) {
	f.selector(field+".subnetSelector", a.SubnetSelector, awsv1alpha1.SelectIDs, awsv1alpha1.SelectAWSIDs)
	if len(a.SubnetSelector) == 0 {
		f.refuse(field+".subnetSelector", "selects nothing: name a tag, or subnets by %s", awsv1alpha1.SelectIDs)
	}
	f.selector(field+".securityGroupSelector", a.SecurityGroupSelector, awsv1alpha1.SelectIDs, awsv1alpha1.SelectAWSIDs)
	if a.SecurityGroupSelector != nil && len(a.SecurityGroupSelector) == 0 {
		f.refuse(field+".securityGroupSelector", "selects nothing: name a tag, or security groups by %s", awsv1alpha1.SelectIDs)
	}
	f.notEmpty(field+".instanceProfile", a.InstanceProfile)
	f.notEmpty(field+".launchTemplate", a.LaunchTemplate)
	f.bare(field+".tags", awsv1alpha1.Selector(a.Tags))
	f.tags(field+".tags", a.Tags.Plain())
	for _, key := range slices.Sorted(maps.Keys(a.Tags)) {
		if SetsTag(key) {
			f.warn(field+".tags["+key+"]", "is ignored, Daemok sets this tag: remove it")
		}
	}
}

func (f *findings) notEmpty(field string, text *string) {
	if text != nil && *text == "" {
		f.refuse(field, "is empty, give a name or remove the field")
	}
}

// SetsTag reports whether Daemok sets the tag and finds its instances by it.
func SetsTag(tag string) bool {
	switch tag {
	case api.TagNodePool, api.TagProvisioner, api.TagNodeClaim, api.TagNodeClass, api.TagEKSCluster, api.TagClusterUID, api.TagBatch:
		return true
	}
	return strings.HasPrefix(tag, api.TagClusterPrefix)
}

// selector checks the keys that are no tags, which are special, and warns of
// values that are not what they seem.
func (f *findings) selector(field string, s awsv1alpha1.Selector, special ...string) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		at := field + "[" + key + "]"
		if strings.HasPrefix(key, "aws::") && !slices.Contains(special, key) {
			f.refuse(at, "is neither a tag nor one of %s%s", strings.Join(special, ", "), nearest.DidYouMean(key, special))
			continue
		}
		if strings.TrimSpace(s[key].Value) == "" {
			f.refuse(at, `is empty: write "*" for any value`)
			continue
		}
		for part := range strings.SplitSeq(s[key].Value, ",") {
			if strings.TrimSpace(part) == "" {
				f.refuse(at, "%q has nothing on one side of a comma, which would select by an empty text: remove the comma", s[key].Value)
				break
			}
		}
	}
	f.bare(field, s)
	if _, both := s[awsv1alpha1.SelectAWSIDs]; both && s[awsv1alpha1.SelectIDs].Value != "" {
		f.warn(field, "%s and %s mean the same, write all ids into one of them", awsv1alpha1.SelectIDs, awsv1alpha1.SelectAWSIDs)
	}
}

// bare warns of texts without quotes: YAML may have read them otherwise than
// they were meant.
func (f *findings) bare(field string, texts awsv1alpha1.Selector) {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if texts[key].Bare {
			f.warn(field+"["+key+"]", "is taken as the text %q, put it into quotes", texts[key].Value)
		}
	}
}
