package offering

// Reason is why an offering that meets what is asked is left out.
type Reason string

// The reasons, in the order in which they are looked at.
const (
	Unavailable          Reason = "unavailable"
	OtherPartition       Reason = "of a partition like one that is asked for, or that is left to the cloud"
	UnaskedHardware      Reason = "bare metal or with accelerators that no pod asks for"
	SpotAboveOnDemand    Reason = "spot more expensive than on-demand"
	SpotAboveNear        Reason = "spot more expensive than enough others"
	OtherCapacityType    Reason = "of a capacity type that is tried later"
	OtherReservationKind Reason = "in a capacity reservation that needs a request of its own"
	OtherReservation     Reason = "in a capacity reservation with fewer instances left than another"
	OverLimit            Reason = "more expensive than as many as one request names"
	SamePlace            Reason = "of an instance type and zone that is named once"
)
