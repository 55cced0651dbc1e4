package validate

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/mark"
)

// ClassOptions are the settings of the controller that a class is checked
// against.
type ClassOptions struct {
	// Expressions says that the feature NodeClassCEL is on.
	Expressions bool
}

// userDataMax is what EC2 accepts of user data, in bytes.
const userDataMax = 16 * 1024

// EC2NodeClass checks a class. Every error has a Reason for the condition
// ValidationSucceeded.
func EC2NodeClass(c *awsv1.EC2NodeClass, o ClassOptions) []Finding {
	var f findings
	f.subnetTerms(c.Spec.SubnetSelectorTerms)
	f.groupTerms(c.Spec.SecurityGroupSelectorTerms)
	f.reservationTerms(c.Spec.CapacityReservationSelectorTerms)
	f.imageTerms(c.Spec.AMISelectorTerms)
	f.tags("spec.tags", c.Spec.Tags)
	f.userData(c.Spec.UserData)
	if v, marked := c.Annotations[api.AnnotationPodDensity]; marked && v != api.PrefixDelegation {
		f.warn("metadata.annotations["+api.AnnotationPodDensity+"]", "%q says nothing and is ignored, write %s or remove it", v, api.PrefixDelegation)
	}
	if _, err := mark.MemoryOverhead(c.Annotations); err != nil {
		f.warn("metadata.annotations["+api.AnnotationMemoryOverhead+"]", "%v; it is ignored", errors.Unwrap(err))
	}
	f.unknownAnnotations(c.Annotations)
	if c.Spec.InstanceStorePolicy != nil && c.Family().IsWindows() {
		f.warn("spec.instanceStorePolicy", "nodes of the family %s join no local disks and it is ignored, remove it", c.Family())
	}
	if c.Spec.Kubelet != nil {
		f.kubelet("spec.kubelet", c.Spec.Kubelet, c.Family(), o)
	}
	return f.all
}

const beside = "%s decides and what stands beside it is ignored, make two terms or remove it"

func (f *findings) subnetTerms(terms []awsv1.SubnetSelectorTerm) {
	for i, t := range terms {
		at := fmt.Sprintf("spec.subnetSelectorTerms[%d]", i)
		if t.ID != "" && t.Tags != nil {
			f.warn(at, beside, "id")
		}
		f.noTags(at, t.Tags, t.ID == "", "subnet")
	}
}

func (f *findings) groupTerms(terms []awsv1.SecurityGroupSelectorTerm) {
	for i, t := range terms {
		at := fmt.Sprintf("spec.securityGroupSelectorTerms[%d]", i)
		switch {
		case t.ID != "" && (t.Tags != nil || t.Name != ""):
			f.warn(at, beside, "id")
		case t.Name != "" && t.Tags != nil:
			f.warn(at, beside, "name")
		}
		f.noTags(at, t.Tags, t.ID == "" && t.Name == "", "security group")
	}
}

func (f *findings) reservationTerms(terms []awsv1.CapacityReservationSelectorTerm) {
	for i, t := range terms {
		at := fmt.Sprintf("spec.capacityReservationSelectorTerms[%d]", i)
		if t.ID != "" && (t.Tags != nil || t.OwnerID != "" || t.InstanceMatchCriteria != "") {
			f.warn(at, beside, "id")
		}
		f.noTags(at, t.Tags, t.ID == "" && t.OwnerID == "" && t.InstanceMatchCriteria == "", "capacity reservation")
	}
}

func (f *findings) imageTerms(terms []awsv1.AMISelectorTerm) {
	for i, t := range terms {
		at := fmt.Sprintf("spec.amiSelectorTerms[%d]", i)
		switch {
		case t.SSMParameter != "" && t.ID != "":
			f.warn(at, beside, "id")
		case t.SSMParameter != "" && (t.Name != "" || t.Owner != "" || t.Tags != nil):
			f.warn(at, beside, "ssmParameter")
		}
		alone := t.ID == "" && t.Name == "" && t.Alias == "" && t.SSMParameter == ""
		f.noTags(at, t.Tags, alone, "image of the owner")
	}
}

// noTags warns of a map of tags that is written but empty.
func (f *findings) noTags(at string, tags map[string]string, alone bool, what string) {
	if tags != nil && len(tags) == 0 && alone {
		f.warn(at+".tags", "no tag is named, so every %s is selected; name a tag", what)
	}
}

// The limits of AWS on tags. Some places are kept for the tags Daemok sets.
const (
	tagKeyMax   = 128
	tagValueMax = 256
	tagsMax     = 50
	tagsOurs    = 7
)

var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

func (f *findings) tags(field string, tags map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := field + "[" + key + "]"
		switch {
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			f.refuseAs(awsv1.ReasonTagValidationFailed, at, "tags that begin with aws: are kept for AWS, choose another key")
		case utf8.RuneCountInString(key) > tagKeyMax:
			f.refuseAs(awsv1.ReasonTagValidationFailed, at, "the key has more than %d letters, shorten it", tagKeyMax)
		case utf8.RuneCountInString(tags[key]) > tagValueMax:
			f.refuseAs(awsv1.ReasonTagValidationFailed, at, "the value has more than %d letters, shorten it", tagValueMax)
		case !tagText.MatchString(key) || !tagText.MatchString(tags[key]):
			f.refuseAs(awsv1.ReasonTagValidationFailed, at, "keys and values of tags may have letters, digits, spaces and _.:/=+-@ only")
		}
	}
	if len(tags) > tagsMax-tagsOurs {
		f.refuseAs(awsv1.ReasonTagValidationFailed, field, "%d tags leave no room, AWS allows %d and Daemok needs %d of them",
			len(tags), tagsMax, tagsOurs)
	}
}

func (f *findings) userData(data *string) {
	if data == nil {
		return
	}
	size := len(*data)
	if decoded, err := base64.StdEncoding.DecodeString(*data); err == nil {
		size = len(decoded)
	}
	if size > userDataMax {
		f.refuseAs(awsv1.ReasonUserDataSizeLimitExceeded, "spec.userData", "%d bytes are more than the %d EC2 accepts, load the rest at boot",
			size, userDataMax)
	}
}
