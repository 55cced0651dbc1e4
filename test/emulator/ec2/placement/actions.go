package placement

func actions() map[string]action {
	return map[string]action{
		"CreatePlacementGroup":    {Serve: createPlacementGroup, Effects: true},
		"DeletePlacementGroup":    {Serve: deletePlacementGroup, Effects: true},
		"DescribePlacementGroups": {Serve: describePlacementGroups},
	}
}
