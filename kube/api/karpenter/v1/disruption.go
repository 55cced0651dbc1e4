package v1

// Disruption is when, why and how many nodes of a pool may be disrupted
// voluntarily.
type Disruption struct {
	// ConsolidateAfter is how long no pod has come to or gone from a node before
	// it may be consolidated. Never switches consolidation off.
	//
	// +kubebuilder:default="0s"
	// +optional
	ConsolidateAfter DurationOrNever `json:"consolidateAfter,omitempty"`

	// ConsolidationPolicy is which nodes may be consolidated.
	//
	// +kubebuilder:default=WhenEmptyOrUnderutilized
	// +optional
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`

	// Budgets limit how many nodes may be disrupted at once. The tightest of the
	// active ones counts.
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
	// Reasons are what the budget counts for; none means for all of them.
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

	// Schedule is the moments, as cron writes them and in UTC, at which the
	// budget becomes active. Without one it always is.
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
