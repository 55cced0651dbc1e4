package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DisruptionPolicy limits voluntary disruption of the nodes of pools: because they are empty, too
// expensive or drifted. Expired nodes are removed all the same, and count.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=disruptionpolicies,scope=Cluster,categories=daemok
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether the policy is understood and its breaker has not tripped"
// +kubebuilder:printcolumn:name="Allowed",type="integer",JSONPath=".status.allowed",description="Nodes of its pools that may go now"
// +kubebuilder:printcolumn:name="Opens",type="string",JSONPath=".status.nextOpens",description="When its next window opens"
// +kubebuilder:printcolumn:name="Tripped",type="string",JSONPath=".status.breaker.trippedAt",description="Since when the breaker keeps every node"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type DisruptionPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DisruptionPolicySpec   `json:"spec"`
	Status DisruptionPolicyStatus `json:"status,omitempty"`
}

// DisruptionPolicyList is a list of policies.
//
// +kubebuilder:object:root=true
type DisruptionPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DisruptionPolicy `json:"items"`
}

// DisruptionPolicySpec is which pools the policy is about, and what it asks for.
// Of several policies for one pool, each must be kept.
type DisruptionPolicySpec struct {
	// NodePools selects the pools; if left out, every pool.
	//
	// +optional
	NodePools *NodePoolSelection `json:"nodePools,omitempty"`

	// Windows are the times at which nodes may be disrupted voluntarily; without any, that is at
	// any time.
	//
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +optional
	Windows []Window `json:"windows,omitempty"`

	// Payback says how much a move that saves money must save.
	//
	// +optional
	Payback *Payback `json:"payback,omitempty"`

	// Breaker stops voluntary disruption when too many nodes were removed.
	//
	// +optional
	Breaker *Breaker `json:"breaker,omitempty"`
}

// NodePoolSelection selects NodePools by name or by label.
//
// +kubebuilder:validation:XValidation:rule="has(self.names) != has(self.selector)",message="set one of names and selector, or leave nodePools out for every pool"
type NodePoolSelection struct {
	// Names of the pools.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=set
	// +optional
	Names []string `json:"names,omitempty"`

	// Selector selects pools by their labels.
	//
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// Window is a time that comes again on days of the week.
type Window struct {
	// TimeZone is the IANA name of the time zone of start and days, such as Europe/Berlin; if left
	// out, UTC.
	//
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// Days on which the window opens; if empty, every day.
	//
	// +listType=set
	// +optional
	Days []Day `json:"days,omitempty"`

	// Start is the hour and minute at which it opens, such as "22:30". If daylight saving time
	// skips the start, the window opens at the moment of the change; if the start occurs twice,
	// the first one counts.
	//
	// +kubebuilder:validation:XValidation:rule="self.matches('^([01][0-9]|2[0-3]):[0-5][0-9]$')",message="start must be an hour and minute of the day with two digits each, such as \"22:30\""
	// +kubebuilder:validation:MaxLength=64
	Start string `json:"start"`

	// Duration is how long it stays open, at most a week, such as "6h" or "1h30m".
	//
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,4}h)?([0-9]{1,6}m)?$') && size(self) > 0 && duration(self) > duration('0s') && duration(self) <= duration('168h')",message="duration must be hours and minutes, more than nothing and at most a week, such as \"6h\" or \"1h30m\""
	// +kubebuilder:validation:MaxLength=64
	Duration string `json:"duration"`
}

// Day is a day of the week.
//
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Day string

// Payback is what moves that save money must save. Of several policies for a
// pool the strictest counts; what none says is as the controller is set up.
//
// +kubebuilder:validation:XValidation:rule="!has(self.disabled) || !self.disabled || (!has(self.podCost) && !has(self.minSavings))",message="disabled asks for no saving at all: leave podCost and minSavings out, or disabled"
type Payback struct {
	// Disabled allows every move that saves anything, unless another policy for the pool requires
	// more.
	//
	// +optional
	Disabled bool `json:"disabled,omitempty"`

	// PodCost is the cost of moving one pod, in US dollars. A move must save that within a day.
	//
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,4}(\\\\.[0-9]{1,6})?$')",message="podCost must be an amount of US dollars without a sign for them, at most four digits before the point and six behind it, such as \"0.01\""
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0.]+$')",message="podCost must be more than nothing; where pods may move for nothing, set disabled"
	// +kubebuilder:validation:MaxLength=64
	// +optional
	PodCost string `json:"podCost,omitempty"`

	// MinSavings is the share of the cost of its nodes that a move must save.
	//
	// +kubebuilder:validation:XValidation:rule="self.matches('^([1-9][0-9]?|100)%$')",message="minSavings must be a whole percentage from \"1%\" to \"100%\""
	// +kubebuilder:validation:MaxLength=64
	// +optional
	MinSavings string `json:"minSavings,omitempty"`
}

// Breaker trips when its pools lose nodes, whatever the reason, or when instances
// that are to replace nodes do not join the cluster. From then on no node goes by
// choice until someone acknowledges it.
//
// +kubebuilder:validation:XValidation:rule="has(self.nodes) || has(self.failedReplacements)",message="set nodes, failedReplacements or both"
type Breaker struct {
	// Nodes is how many nodes of all the pools together may be removed within the time: a number,
	// or a percentage, rounded up. At that number voluntary disruption stops, and the breaker
	// trips.
	//
	// +kubebuilder:validation:XValidation:rule="self.matches('^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$')",message="nodes must be a number from \"1\" to \"999999\" or a whole percentage from \"1%\" to \"100%\"; to keep every node, use a budget of the pool or a freeze"
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Nodes string `json:"nodes,omitempty"`

	// FailedReplacements is the number of replacements that did not join at which the breaker
	// trips, within the time.
	//
	// +kubebuilder:validation:Minimum=1
	// +optional
	FailedReplacements *int32 `json:"failedReplacements,omitempty"`

	// Within is the time, at most a day.
	//
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,4}h)?([0-9]{1,6}m)?$') && size(self) > 0 && duration(self) > duration('0s') && duration(self) <= duration('24h')",message="within must be hours and minutes, more than nothing and at most a day, such as \"30m\" or \"1h30m\""
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Within string `json:"within,omitempty"`
}

// Conditions of a DisruptionPolicy. Ready is true when both others are.
const (
	PolicyReady               = "Ready"
	PolicyValidationSucceeded = "ValidationSucceeded"
	PolicyBreakerClosed       = "BreakerClosed"
)

// Reasons of conditions that are false.
const (
	ReasonInvalid        = "Invalid"
	ReasonBreakerTripped = "BreakerTripped"
)

// DisruptionPolicyStatus is what was last observed of a policy.
type DisruptionPolicyStatus struct {
	// Conditions say whether the policy is valid and its breaker closed.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Allowed is how many nodes of all its pools may be disrupted now.
	Allowed int64 `json:"allowed"`

	// NextOpens is when its next window opens; unset while one is open, or if there are none.
	//
	// +optional
	NextOpens *metav1.Time `json:"nextOpens,omitempty"`

	// Pools are the pools that it selects, with the number of disruptions that budgets and all
	// policies leave them.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Pools []PoolAllowance `json:"pools,omitempty"`

	// Breaker is the state of the breaker.
	//
	// +optional
	Breaker *BreakerStatus `json:"breaker,omitempty"`
}

// PoolAllowance is how many nodes of a pool may go now.
type PoolAllowance struct {
	// Name of the pool.
	Name string `json:"name"`

	// Allowed is how many of its nodes may be disrupted now, for the reason that allows most.
	Allowed int64 `json:"allowed"`

	// Because says which budget or policy allows no more, and until when.
	Because string `json:"because,omitempty"`
}

// BreakerStatus is what a breaker has seen.
type BreakerStatus struct {
	// Gone is how many nodes were removed within the time.
	Gone int64 `json:"gone"`

	// Most is the number at which it trips; 0 if it does not count nodes.
	Most int64 `json:"most"`

	// FailedReplacements is how many instances did not join within the time.
	FailedReplacements int64 `json:"failedReplacements"`

	// TrippedAt is when it tripped; unset while it has not. The annotation daemok.sh/acknowledged
	// with exactly this time acknowledges it.
	//
	// +optional
	TrippedAt *metav1.Time `json:"trippedAt,omitempty"`

	// Why says what made it trip.
	//
	// +optional
	Why string `json:"why,omitempty"`

	// AcknowledgedAt is when the controller last saw an acknowledgement; what happened before no
	// longer counts.
	//
	// +optional
	AcknowledgedAt *metav1.Time `json:"acknowledgedAt,omitempty"`
}

// GetConditions returns the policy's conditions; the slice is its own.
func (p *DisruptionPolicy) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the policy's conditions.
func (p *DisruptionPolicy) SetConditions(c []metav1.Condition) { p.Status.Conditions = c }

// ReadyDependsOn names the conditions that must be true for Ready.
func (*DisruptionPolicy) ReadyDependsOn() []string {
	return []string{PolicyValidationSucceeded, PolicyBreakerClosed}
}
