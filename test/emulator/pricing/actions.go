package pricing

func actions() map[string]action {
	return map[string]action{"GetProducts": {Serve: getProducts}}
}
