package launch

import (
	"github.com/daemok/daemok/test/emulator/world"
)

func actions() map[string]action {
	return map[string]action{
		"CreateFleet":  {Serve: createFleet, Effects: true, Needs: needsOfFleet},
		"RunInstances": {Serve: runInstances, Effects: true, Needs: world.NeedsNothing[*call]},
	}
}
