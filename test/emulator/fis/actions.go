package fis

func actions() map[string]action {
	return map[string]action{
		"CreateExperimentTemplate":      {Serve: createExperimentTemplate, Effects: true},
		"DeleteExperimentTemplate":      {Serve: getExperimentTemplate, Effects: true},
		"GetExperiment":                 {Serve: getExperiment},
		"GetExperimentTemplate":         {Serve: getExperimentTemplate},
		"ListExperimentResolvedTargets": {Serve: listResolvedTargets},
		"ListExperiments":               {Serve: listExperiments},
		"ListExperimentTemplates":       {Serve: listExperimentTemplates},
		"StartExperiment":               {Serve: startExperiment, Effects: true},
		"StopExperiment":                {Serve: getExperiment, Effects: true},
	}
}
