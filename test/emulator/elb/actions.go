package elb

func actions() map[string]action {
	return map[string]action{
		"CreateTargetGroup":             {Serve: createTargetGroup, Effects: true},
		"DeleteTargetGroup":             {Serve: deleteTargetGroup, Effects: true},
		"DeregisterTargets":             {Serve: changeTargets, Effects: true},
		"DescribeTargetGroupAttributes": {Serve: describeTargetGroupAttributes},
		"DescribeTargetGroups":          {Serve: describeTargetGroups},
		"DescribeTargetHealth":          {Serve: describeTargetHealth},
		"ModifyTargetGroupAttributes":   {Serve: modifyTargetGroup, Effects: true},
		"RegisterTargets":               {Serve: changeTargets, Effects: true},
	}
}
