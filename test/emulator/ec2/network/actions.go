package network

func actions() map[string]action {
	return map[string]action{
		"CreateSecurityGroup":       {Serve: createSecurityGroup, Effects: true},
		"CreateSubnet":              {Serve: createSubnet, Effects: true},
		"CreateVpc":                 {Serve: createVPC, Effects: true},
		"DeleteSecurityGroup":       {Serve: deleteSecurityGroup, Effects: true},
		"DeleteSubnet":              {Serve: deleteSubnet, Effects: true},
		"DeleteVpc":                 {Serve: deleteVPC, Effects: true},
		"DescribeAvailabilityZones": {Serve: describeAvailabilityZones},
		"DescribeRegions":           {Serve: describeRegions},
		"DescribeSecurityGroups":    {Serve: describeSecurityGroups},
		"DescribeSubnets":           {Serve: describeSubnets},
		"DescribeVpcs":              {Serve: describeVPCs},
		"ModifySubnetAttribute":     {Serve: modifySubnetAttribute, Effects: true},
	}
}
