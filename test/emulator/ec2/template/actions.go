package template

func actions() map[string]action {
	return map[string]action{
		"CreateLaunchTemplate":           {Serve: createLaunchTemplate, Effects: true, Needs: needsOfTemplate},
		"CreateLaunchTemplateVersion":    {Serve: createLaunchTemplateVersion, Effects: true},
		"DeleteLaunchTemplate":           {Serve: deleteLaunchTemplate, Effects: true, Needs: needsOnTemplate},
		"DescribeLaunchTemplateVersions": {Serve: describeLaunchTemplateVersions},
		"DescribeLaunchTemplates":        {Serve: describeLaunchTemplates},
		"ModifyLaunchTemplate":           {Serve: modifyLaunchTemplate, Effects: true},
	}
}
