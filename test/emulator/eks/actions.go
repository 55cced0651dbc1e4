package eks

func actions() map[string]action {
	return map[string]action{
		"CreateAccessEntry":              {Serve: createAccessEntry, Effects: true},
		"CreateNodegroup":                {Serve: createNodegroup, Effects: true},
		"DescribeNodegroup":              {Serve: describeNodegroup},
		"DeleteNodegroup":                {Serve: deleteNodegroup, Effects: true},
		"ListNodegroups":                 {Serve: listNodegroups},
		"CreatePodIdentityAssociation":   {Serve: createPodIdentity, Effects: true},
		"DeletePodIdentityAssociation":   {Serve: deletePodIdentity, Effects: true},
		"DescribePodIdentityAssociation": {Serve: describePodIdentity},
		"ListPodIdentityAssociations":    {Serve: listPodIdentities},
		"UpdatePodIdentityAssociation":   {Serve: updatePodIdentity, Effects: true},
		"UpdateAccessEntry":              {Serve: updateAccessEntry, Effects: true},
		"DeleteAccessEntry":              {Serve: deleteAccessEntry, Effects: true},
		"DescribeAccessEntry":            {Serve: describeAccessEntry},
		"DescribeCluster":                {Serve: describeCluster, Needs: needsOnCluster},
		"DescribeUpdate":                 {Serve: describeUpdate},
		"ListAccessEntries":              {Serve: listAccessEntries},
		"ListClusters":                   {Serve: listClusters},
		"ListUpdates":                    {Serve: listUpdates},
		"UpdateClusterVersion":           {Serve: updateClusterVersion, Effects: true},
	}
}

func authActions() map[string]action {
	return map[string]action{"AssumeRoleForPodIdentity": {Serve: assumeRoleForPodIdentity, Effects: true}}
}
