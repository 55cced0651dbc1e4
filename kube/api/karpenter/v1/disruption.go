package v1

// Disruption is when, why and how many nodes of a pool may be disrupted
// voluntarily.
type Disruption struct {
	// ConsolidateAfter is how long no pod must have been added to or removed from a node before it
	// may be consolidated. Never switches consolidation off.
	//
	// +kubebuilder:default="0s"
	// +optional
	ConsolidateAfter DurationOrNever `json:"consolidateAfter,omitempty"`

	// ConsolidationPolicy says which nodes may be consolidated.
	//
	// +kubebuilder:default=WhenEmptyOrUnderutilized
	// +optional
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`

	// Budgets limit how many nodes may be disrupted at once. The lowest of the active ones
	// applies.
	//
	// +kubebuilder:default={{nodes: "10%"}}
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.schedule) == has(x.duration))",message="schedule and duration must be set together"
	// +listType=atomic
	// +optional
	Budgets []Budget `json:"budgets,omitzero"`
}

// ConsolidationPolicy is which nodes of a pool may be consolidated.
//
// +kubebuilder:validation:Enum=WhenEmpty;WhenEmptyOrUnderutilized;Balanced
type ConsolidationPolicy string

// The consolidation policies.
const (
	ConsolidateWhenEmpty                ConsolidationPolicy = "WhenEmpty"
	ConsolidateWhenEmptyOrUnderutilized ConsolidationPolicy = "WhenEmptyOrUnderutilized"
	ConsolidateBalanced                 ConsolidationPolicy = "Balanced"
)

// Budget limits how many nodes of a pool may be disrupted at once.
type Budget struct {
	// Reasons are the reasons for disruption that the budget applies to; if empty, all of them.
	//
	// +kubebuilder:validation:MaxItems=50
	// +listType=set
	// +optional
	Reasons []DisruptionReason `json:"reasons,omitempty"`

	// Nodes is a number of nodes, or a percentage of the pool's nodes that is
	// rounded up.
	//
	// +kubebuilder:default="10%"
	// +kubebuilder:validation:Pattern=`^((100|[0-9]{1,2})%|[0-9]+)$`
	Nodes string `json:"nodes"`

	// Schedule is when the budget becomes active, as a cron expression in UTC. Without one it is
	// always active.
	//
	// +kubebuilder:validation:Pattern=`^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$`
	// +optional
	Schedule *string `json:"schedule,omitempty"`

	// Duration is how long the budget stays active, in hours and minutes.
	//
	// +kubebuilder:validation:Pattern=`^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$`
	// +optional
	Duration *string `json:"duration,omitempty"`
}

// DisruptionReason is why a node is disrupted voluntarily.
//
// +kubebuilder:validation:Enum=Underutilized;Empty;Drifted
type DisruptionReason string

// The reasons budgets can be limited to.
const (
	ReasonUnderutilized DisruptionReason = "Underutilized"
	ReasonEmpty         DisruptionReason = "Empty"
	ReasonDrifted       DisruptionReason = "Drifted"
)
