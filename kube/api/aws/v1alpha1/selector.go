package v1alpha1

// Keys of selectors that are no tags.
const (
	SelectIDs      = "aws-ids"     // ids with commas between
	SelectAWSIDs   = "aws::ids"    // the same
	SelectAWSNames = "aws::name"   // of images: names with commas between
	SelectOwners   = "aws::owners" // of images: accounts or aliases with commas between
)

// Selector selects resources of AWS that have all of its tags. A value may be
// several with commas between, of which one must match, and may contain the
// wildcards of EC2. SelectIDs and SelectAWSIDs select by id.
//
// +kubebuilder:validation:MaxProperties=100
// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() > 0 && (type(self[k]) == int || self[k].size() > 0))",message="empty keys or values in a selector are not supported, write * for any value"
type Selector map[string]Text

// Plain returns the selector as strings; nil for none. The caller owns the
// map.
func (s Selector) Plain() map[string]string { return Texts(s).Plain() }
