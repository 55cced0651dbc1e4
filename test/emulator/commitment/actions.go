package commitment

func reservedActions() map[string]action {
	return map[string]action{"DescribeReservedInstances": {Serve: describeReservedInstances}}
}

func planActions() map[string]action {
	return map[string]action{
		"DescribeSavingsPlanRates": {Serve: describeSavingsPlanRates},
		"DescribeSavingsPlans":     {Serve: describeSavingsPlans},
	}
}
