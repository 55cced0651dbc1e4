package up

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

func (l *Lab) awsURL() string { return "http://127.0.0.1:" + strconv.Itoa(l.identity.Ports.AWS) }

func (l *Lab) startCloud(context.Context) error { return nil }

// zonesMax is how many zones of a region the pretend account uses.
const zonesMax = 4

// zones returns the zones that the account has subnets in, or an error for a
// region that the catalogue does not know.
func zones(region string) ([]string, error) {
	catalogue := ec2data.Load()
	var names []string
	for _, z := range catalogue.Zones(region) {
		names = append(names, z.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no region %q in the catalogue: choose one of %s", region, strings.Join(catalogue.RegionNames(), ", "))
	}
	return names[:min(len(names), zonesMax)], nil
}
