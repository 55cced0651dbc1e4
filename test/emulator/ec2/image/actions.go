package image

func actions() map[string]action {
	return map[string]action{
		"CopyImage":               {Serve: copyImage, Effects: true},
		"DeregisterImage":         {Serve: deregisterImage, Effects: true},
		"DescribeImages":          {Serve: describeImages},
		"DisableImageDeprecation": {Serve: deprecateImage, Effects: true},
		"EnableImageDeprecation":  {Serve: deprecateImage, Effects: true},
	}
}
