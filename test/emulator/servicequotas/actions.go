package servicequotas

func actions() map[string]action {
	return map[string]action{
		"GetAWSDefaultServiceQuota":   {Serve: getServiceQuota},
		"GetServiceQuota":             {Serve: getServiceQuota},
		"ListAWSDefaultServiceQuotas": {Serve: listServiceQuotas},
		"ListServiceQuotas":           {Serve: listServiceQuotas},
	}
}
