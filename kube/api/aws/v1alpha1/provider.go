package v1alpha1

import (
	"fmt"
	"reflect"

	"github.com/daemok/daemok/kube/api/open"
)

// Provider is the block of AWS settings that a Provisioner may have inline,
// in place of naming an AWSNodeTemplate. It has no user data, no selector of
// images and no detailed monitoring; fields that it does not know are kept in
// Further.
//
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily != 'Custom'",message="amiFamily Custom needs an amiSelector, which provider does not have: make an AWSNodeTemplate with both and name it in spec.providerRef"
type Provider struct {
	// APIVersion of the block; if set, it must be extensions.karpenter.sh/v1alpha1.
	//
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// Kind of the block; if set, it must be AWS.
	//
	// +optional
	Kind string `json:"kind,omitempty"`

	AWS `json:",inline"`

	// Further are all other fields, as written.
	Further open.Fields `json:"-"`
}

// typedProvider has the fields of Provider without its methods.
type typedProvider Provider

// UnmarshalJSON reads the typed fields and keeps the further ones as written.
func (p *Provider) UnmarshalJSON(data []byte) error {
	var typed typedProvider
	further, err := open.Read(data, &typed)
	if err != nil {
		return fmt.Errorf("read provider: %w", err)
	}
	*p = Provider(typed)
	p.Further = further
	return nil
}

// MarshalJSON writes the typed fields and the further ones as one document.
// The receiver is a value so that copies marshal alike.
func (p Provider) MarshalJSON() ([]byte, error) { return open.Write(typedProvider(p), p.Further) }

// ProviderFields names the fields that a Provider knows, sorted. The caller
// owns the slice.
func ProviderFields() []string { return open.Names(reflect.TypeFor[Provider]()) }
