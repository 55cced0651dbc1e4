package arc

func actions() map[string]action {
	return map[string]action{
		"CancelZonalShift":   {Serve: cancelZonalShift, Effects: true},
		"GetManagedResource": {Serve: getManagedResource, Needs: needsOnManaged},
		"StartZonalShift":    {Serve: startZonalShift, Effects: true},
	}
}
