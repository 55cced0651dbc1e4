package arc

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// zonalShift moves the cluster's traffic away from a zone, until it expires or is
// ended. A zone may be shifted by a user and by AWS at once.
type zonalShift struct {
	ID, AwayFrom, Comment string // AwayFrom is the zone's ID
	Auto                  bool   // AWS began it, and ends it
	StartsAt              time.Time
	EndsAt                time.Time // zero: of an autoshift
}

// shiftMax and shiftMin bound how long a user's shift lasts.
const (
	shiftMin = time.Minute
	shiftMax = 72 * time.Hour
)

// shifting are the shifts that are on, of users first, then by zone and ID; of several
// of one kind the first is in effect. Those that are over are dropped.
func (s *ARC) shifting(now time.Time) []zonalShift {
	s.Shifts = slices.DeleteFunc(s.Shifts, func(z zonalShift) bool { return !z.EndsAt.IsZero() && !z.EndsAt.After(now) })
	slices.SortFunc(s.Shifts, func(a, b zonalShift) int {
		return cmp.Or(compareBool(a.Auto, b.Auto), cmp.Compare(a.AwayFrom, b.AwayFrom), cmp.Compare(a.ID, b.ID))
	})
	return s.Shifts
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// AutoShift begins an autoshift away from a zone, by its name, until EndShifts. It is
// safe to repeat.
func (s *ARC) AutoShift(zoneName string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	z, err := s.ZoneCalled(zoneName)
	if err == nil && !slices.ContainsFunc(s.Shifts, func(x zonalShift) bool { return x.Auto && x.AwayFrom == z.ID }) {
		s.Shifts = append(s.Shifts, zonalShift{AwayFrom: z.ID, Auto: true, StartsAt: s.Now()})
	}
	return err
}

// Shift begins a user's zonal shift away from a zone, by its name, as StartZonalShift
// does.
func (s *ARC) Shift(zoneName string, long time.Duration) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	z, err := s.ZoneCalled(zoneName)
	if err != nil {
		return err
	}
	_, err = s.beginShift(z.ID, long, "", s.Now())
	return err
}

// EndShifts ends the shifts away from a zone, by its name, a user's and AWS's, and returns
// how many there were.
func (s *ARC) EndShifts(zoneName string) (int, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	z, err := s.ZoneCalled(zoneName)
	if err != nil {
		return 0, err
	}
	before := len(s.shifting(s.Now()))
	s.Shifts = slices.DeleteFunc(s.Shifts, func(x zonalShift) bool { return x.AwayFrom == z.ID })
	return before - len(s.Shifts), nil
}

// isCluster refuses resources that are not the account's cluster, which alone is
// registered.
func (s *ARC) isCluster(arn string) error {
	if want := s.Settings.ARN("eks", s.Settings.Region, "cluster/"+s.Settings.ClusterName); arn != want {
		return wire.Errorf("ResourceNotFoundException", "The resource %s is not a managed resource.", arn).WithStatus(http.StatusNotFound)
	}
	return nil
}

func getManagedResource(c *call) (any, error) {
	st, name := c.server, c.Names["resource"]
	if err := st.isCluster(name); err != nil {
		return nil, err
	}
	weights := map[string]float64{}
	for _, z := range st.Zones {
		weights[z.ID] = 1
	}
	byUser, byAWS := []any{}, []any{}
	status := "APPLIED" // of the first, which comes before all others
	for _, z := range st.shifting(c.At) {
		shown := map[string]any{"appliedStatus": status, "awayFrom": z.AwayFrom, "startTime": world.Seconds(z.StartsAt)}
		if status == "APPLIED" {
			weights[z.AwayFrom] = 0
		}
		status = "NOT_APPLIED"
		if z.Auto {
			byAWS = append(byAWS, shown)
			continue
		}
		shown["comment"], shown["expiryTime"], shown["resourceIdentifier"], shown["zonalShiftId"] = z.Comment, world.Seconds(z.EndsAt), name, z.ID
		shown["shiftType"] = "ZONAL_SHIFT"
		byUser = append(byUser, shown)
	}
	return map[string]any{
		"arn": name, "name": st.Settings.ClusterName, "appliedWeights": weights, "zonalShifts": byUser, "autoshifts": byAWS,
		"zonalAutoshiftStatus": "ENABLED",
	}, nil
}

func startZonalShift(c *call) (any, error) {
	var in struct{ ResourceIdentifier, AwayFrom, ExpiresIn, Comment string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	st := c.server
	if err := st.isCluster(in.ResourceIdentifier); err != nil {
		return nil, err
	}
	long, err := time.ParseDuration(in.ExpiresIn)
	if err != nil {
		long = 0 // which is refused
	}
	z, err := st.beginShift(in.AwayFrom, long, in.Comment, c.At)
	if err != nil {
		return nil, err
	}
	return shiftAnswer(z, in.ResourceIdentifier, "ACTIVE"), nil
}

// beginShift begins a user's shift away from the zone of an ID.
func (s *ARC) beginShift(awayFrom string, long time.Duration, comment string, now time.Time) (zonalShift, error) {
	switch {
	case long < shiftMin || long > shiftMax:
		return zonalShift{}, wire.Errorf("ValidationException", "expiresIn must be a length of time such as 5m or 2h, a minute at least and three days at most")
	case !slices.ContainsFunc(s.Zones, func(z world.Zone) bool { return z.ID == awayFrom }):
		return zonalShift{}, wire.Errorf("ValidationException", "The Availability Zone %s is not one of the resource's.", awayFrom)
	case slices.ContainsFunc(s.shifting(now), func(z zonalShift) bool { return !z.Auto }):
		return zonalShift{}, wire.Errorf("ConflictException", "A zonal shift is already active for the resource.").WithStatus(http.StatusConflict)
	}
	z := zonalShift{ID: s.NewID("shift"), AwayFrom: awayFrom, Comment: comment, StartsAt: now, EndsAt: now.Add(long)}
	s.Shifts = append(s.Shifts, z)
	return z, nil
}

func cancelZonalShift(c *call) (any, error) {
	st := c.server
	at := slices.IndexFunc(st.shifting(c.At), func(z zonalShift) bool { return !z.Auto && z.ID == c.Names["shift"] })
	if at < 0 {
		return nil, wire.Errorf("ResourceNotFoundException", "The zonal shift %s does not exist.", c.Names["shift"]).WithStatus(http.StatusNotFound)
	}
	z := st.Shifts[at]
	st.Shifts = slices.Delete(st.Shifts, at, at+1)
	return shiftAnswer(z, st.Settings.ARN("eks", st.Settings.Region, "cluster/"+st.Settings.ClusterName), "CANCELED"), nil
}

func shiftAnswer(z zonalShift, resource, status string) map[string]any {
	return map[string]any{
		"awayFrom": z.AwayFrom, "comment": z.Comment, "expiryTime": world.Seconds(z.EndsAt), "resourceIdentifier": resource,
		"startTime": world.Seconds(z.StartsAt), "status": status, "zonalShiftId": z.ID,
	}
}
