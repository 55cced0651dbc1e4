package ssm

func actions() map[string]action {
	return map[string]action{
		"GetParameter":        {Serve: getParameter, Needs: needsOnParameter},
		"GetParameterHistory": {Serve: getParameterHistory},
		"GetParameters":       {Serve: getParameters},
		"GetParametersByPath": {Serve: getParametersByPath},
		"PutParameter":        {Serve: putParameter, Effects: true},
		"DeleteParameter":     {Serve: deleteParameter, Effects: true},
		"DeleteParameters":    {Serve: deleteParameters, Effects: true},
	}
}
