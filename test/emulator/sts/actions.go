package sts

import (
	"github.com/daemok/daemok/test/emulator/world"
)

func actions() map[string]action {
	return map[string]action{
		"AssumeRole":                {Serve: assumeRole, Needs: world.NeedsNothing[*call]},
		"AssumeRoleWithWebIdentity": {Serve: assumeRoleWithWebIdentity, Needs: world.NeedsNothing[*call]},
		"GetCallerIdentity":         {Serve: getCallerIdentity, Needs: world.NeedsNothing[*call]},
	}
}
