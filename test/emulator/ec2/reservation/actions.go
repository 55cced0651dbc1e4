package reservation

func actions() map[string]action {
	return map[string]action{
		"CancelCapacityReservation":                        {Serve: cancelCapacityReservation, Effects: true},
		"CreateCapacityReservation":                        {Serve: createCapacityReservation, Effects: true},
		"CreateInterruptibleCapacityReservationAllocation": {Serve: createAllocation, Effects: true},
		"DescribeCapacityReservations":                     {Serve: describeCapacityReservations},
		"ModifyCapacityReservation":                        {Serve: modifyCapacityReservation, Effects: true},
		"UpdateInterruptibleCapacityReservationAllocation": {Serve: updateAllocation, Effects: true},
	}
}
