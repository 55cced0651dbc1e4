package emulator

import (
	"maps"

	"github.com/daemok/daemok/test/emulator/world"
)

func computeActions() map[string]action {
	return map[string]action{
		"CancelCapacityReservation":                        {Serve: cancelCapacityReservation, Effects: true},
		"CreateCapacityReservation":                        {Serve: createCapacityReservation, Effects: true},
		"CreateInterruptibleCapacityReservationAllocation": {Serve: createAllocation, Effects: true},
		"CreateNetworkInterface":                           {Serve: createNetworkInterface, Effects: true},
		"CreatePlacementGroup":                             {Serve: createPlacementGroup, Effects: true},
		"CreateTags":                                       {Serve: createTags, Effects: true, Needs: needsOnTagged},
		"DeleteNetworkInterface":                           {Serve: deleteNetworkInterface, Effects: true},
		"DeletePlacementGroup":                             {Serve: deletePlacementGroup, Effects: true},
		"DeleteTags":                                       {Serve: deleteTags, Effects: true, Needs: needsOnTagged},
		"DeleteVolume":                                     {Serve: deleteVolume, Effects: true},
		"DescribeCapacityReservations":                     {Serve: describeCapacityReservations},
		"DescribeInstanceAttribute":                        {Serve: describeInstanceAttribute},
		"DescribeInstanceStatus":                           {Serve: describeInstanceStatus},
		"DescribeInstances":                                {Serve: describeInstances},
		"DescribeNetworkInterfaces":                        {Serve: describeNetworkInterfaces},
		"DescribePlacementGroups":                          {Serve: describePlacementGroups},
		"DescribeSpotInstanceRequests":                     {Serve: describeSpotInstanceRequests},
		"DescribeTags":                                     {Serve: describeTags},
		"DescribeVolumes":                                  {Serve: describeVolumes},
		"ModifyCapacityReservation":                        {Serve: modifyCapacityReservation, Effects: true},
		"RunInstances":                                     {Serve: runInstances, Effects: true, Needs: world.NeedsNothing[*call]},
		"StartInstances":                                   {Serve: startInstances, Effects: true, Needs: needsOnInstances},
		"StopInstances":                                    {Serve: stopInstances, Effects: true, Needs: needsOnInstances},
		"TerminateInstances":                               {Serve: terminateInstances, Effects: true, Needs: needsOnInstances},
		"UpdateInterruptibleCapacityReservationAllocation": {Serve: updateAllocation, Effects: true},
	}
}

func fleetActions() map[string]action {
	return map[string]action{
		"CreateFleet": {Serve: createFleet, Effects: true, Needs: needsOfFleet},
	}
}

func allActions() map[string]action {
	all := computeActions()
	maps.Copy(all, fleetActions())
	return all
}
