package eventbridge

func actions() map[string]action {
	return map[string]action{
		"DeleteRule":            {Serve: deleteRule, Effects: true},
		"DescribeRule":          {Serve: describeRule},
		"DisableRule":           {Serve: switchRule, Effects: true},
		"EnableRule":            {Serve: switchRule, Effects: true},
		"ListRuleNamesByTarget": {Serve: listRuleNamesByTarget},
		"ListRules":             {Serve: listRules},
		"ListTargetsByRule":     {Serve: listTargetsByRule},
		"PutEvents":             {Serve: putEvents, Effects: true},
		"PutRule":               {Serve: putRule, Effects: true},
		"PutTargets":            {Serve: putTargets, Effects: true},
		"RemoveTargets":         {Serve: removeTargets, Effects: true},
		"TestEventPattern":      {Serve: testEventPattern},
	}
}
