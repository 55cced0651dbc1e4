package tagging

func actions() map[string]action {
	return map[string]action{
		"CreateTags":   {Serve: createTags, Effects: true, Needs: needsOnTagged},
		"DeleteTags":   {Serve: deleteTags, Effects: true, Needs: needsOnTagged},
		"DescribeTags": {Serve: describeTags},
	}
}
