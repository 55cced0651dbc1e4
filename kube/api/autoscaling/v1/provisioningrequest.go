package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The provisioning classes that Daemok serves; requests of any other are not Daemok's.
const (
	// ClassCheckCapacity asks whether there is capacity now, and launches nothing.
	ClassCheckCapacity = "check-capacity.autoscaling.x-k8s.io"
	// ClassBestEffortAtomic launches what is missing.
	ClassBestEffortAtomic = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
)

// The parameters that are read.
const (
	// ParameterValidUntilSeconds is for how many seconds from its creation capacity is sought for a request.
	ParameterValidUntilSeconds = "ValidUntilSeconds"
	// ParameterProcessorInstance names the one of several autoscalers that is to serve a request.
	ParameterProcessorInstance = "processorInstance"
)

// ProvisioningRequest asks for capacity for all of its pods at once.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=provisioningrequests,scope=Namespaced,categories=autoscaling,shortName=provreq;provreqs
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Class",type="string",JSONPath=".spec.provisioningClassName"
// +kubebuilder:printcolumn:name="Accepted",type="string",JSONPath=".status.conditions[?(@.type=='Accepted')].status"
// +kubebuilder:printcolumn:name="Provisioned",type="string",JSONPath=".status.conditions[?(@.type=='Provisioned')].status"
// +kubebuilder:printcolumn:name="Failed",type="string",JSONPath=".status.conditions[?(@.type=='Failed')].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ProvisioningRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ProvisioningRequestSpec   `json:"spec"`
	Status ProvisioningRequestStatus `json:"status,omitempty"`
}

// ProvisioningRequestList is a list of requests.
//
// +kubebuilder:object:root=true
type ProvisioningRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProvisioningRequest `json:"items"`
}

// ProvisioningRequestSpec is which pods capacity is asked for, and how it is found.
type ProvisioningRequestSpec struct {
	// PodSets are groups of pods with one template each.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="Value is immutable"
	PodSets []PodSet `json:"podSets"`

	// ProvisioningClassName says how capacity is found, and who finds it.
	//
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="Value is immutable"
	ProvisioningClassName string `json:"provisioningClassName"`

	// Parameters are what the class has to know beside that.
	//
	// +kubebuilder:validation:MaxProperties=100
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="Value is immutable"
	// +optional
	Parameters map[string]Parameter `json:"parameters,omitempty"`
}

// Parameter is the value of a parameter.
//
// +kubebuilder:validation:MaxLength=255
type Parameter string

// PodSet is pods with one template.
type PodSet struct {
	// PodTemplateRef names a PodTemplate of the same namespace.
	PodTemplateRef Reference `json:"podTemplateRef"`

	// Count is the number of pods.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16384
	Count int32 `json:"count"`
}

// Reference names an object of the same namespace.
type Reference struct {
	// Name of the object.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`
}

// Conditions of a ProvisioningRequest. It has no Ready.
const (
	RequestAccepted        = "Accepted"        // Daemok serves it
	RequestProvisioned     = "Provisioned"     // there is, or was, capacity for all its pods
	RequestFailed          = "Failed"          // no capacity is sought any more
	RequestBookingExpired  = "BookingExpired"  // the capacity is kept no longer
	RequestCapacityRevoked = "CapacityRevoked" // the capacity was lost while it was kept
)

// Reasons of a ProvisioningRequest's conditions, as Cluster Autoscaler gives them where it has such a reason.
const (
	ReasonAccepted              = "Accepted"
	ReasonCapacityIsFound       = "CapacityIsFound"       // on nodes that were there, or coming
	ReasonCapacityIsProvisioned = "CapacityIsProvisioned" // some of it was launched for the request
	ReasonCapacityIsNotFound    = "CapacityIsNotFound"    // not all of it; it is sought again
	ReasonCapacityIsLaunched    = "CapacityIsLaunched"    // instances for the rest are being launched
	ReasonPodTemplateNotFound   = "PodTemplateNotFound"   // no capacity is sought before it is there
	ReasonResolutionFailed      = "ResolutionFailed"      // it is not known which pods
	ReasonExpired               = "Expired"               // not found in time
	ReasonInvalid               = "Invalid"               // it cannot be served as it is written
	ReasonReservationExpired    = "CapacityReservationTimeExpired"
	ReasonCapacityIsLost        = "CapacityIsLost"
)

// ProvisioningRequestStatus is what became of a request.
type ProvisioningRequestStatus struct {
	// Conditions say whether there is capacity, and for how long it is kept.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ProvisioningClassDetails are further answers of the class.
	//
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	ProvisioningClassDetails map[string]Detail `json:"provisioningClassDetails,omitempty"`
}

// Detail is an answer of a provisioning class.
//
// +kubebuilder:validation:MaxLength=32768
type Detail string

// GetConditions returns the request's conditions; the slice is its own.
func (r *ProvisioningRequest) GetConditions() []metav1.Condition { return r.Status.Conditions }

// SetConditions replaces the request's conditions.
func (r *ProvisioningRequest) SetConditions(c []metav1.Condition) { r.Status.Conditions = c }

// ReadyDependsOn names no condition: a request has no Ready.
func (*ProvisioningRequest) ReadyDependsOn() []string { return nil }
