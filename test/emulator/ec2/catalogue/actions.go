package catalogue

func actions() map[string]action {
	return map[string]action{
		"DescribeInstanceTypeOfferings": {Serve: describeInstanceTypeOfferings},
		"DescribeInstanceTypes":         {Serve: describeInstanceTypes},
		"DescribeSpotPriceHistory":      {Serve: describeSpotPriceHistory},
	}
}
