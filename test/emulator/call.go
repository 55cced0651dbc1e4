package emulator

import "github.com/daemok/daemok/test/emulator/world"

// call is one request to a service, and the account that answers it.
type call struct {
	*world.Call
	server *Server
}

// action is one entry of a service's table.
type action = world.Entry[*call]
