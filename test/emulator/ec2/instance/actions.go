package instance

func actions() map[string]action {
	return map[string]action{
		"CreateNetworkInterface":       {Serve: createNetworkInterface, Effects: true},
		"DeleteNetworkInterface":       {Serve: deleteNetworkInterface, Effects: true},
		"DeleteVolume":                 {Serve: deleteVolume, Effects: true},
		"DescribeInstanceAttribute":    {Serve: describeInstanceAttribute},
		"DescribeInstanceStatus":       {Serve: describeInstanceStatus},
		"DescribeInstances":            {Serve: describeInstances},
		"DescribeNetworkInterfaces":    {Serve: describeNetworkInterfaces},
		"DescribeSpotInstanceRequests": {Serve: describeSpotInstanceRequests},
		"DescribeVolumes":              {Serve: describeVolumes},
		"StartInstances":               {Serve: startInstances, Effects: true, Needs: needsOnInstances},
		"StopInstances":                {Serve: stopInstances, Effects: true, Needs: needsOnInstances},
		"TerminateInstances":           {Serve: terminateInstances, Effects: true, Needs: needsOnInstances},
	}
}
