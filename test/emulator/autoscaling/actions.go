package autoscaling

func actions() map[string]action {
	return map[string]action{
		"CreateAutoScalingGroup":    {Serve: createScalingGroup, Effects: true},
		"DescribeAutoScalingGroups": {Serve: describeScalingGroups},
	}
}
