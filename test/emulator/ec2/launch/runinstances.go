package launch

import (
	"net/http"

	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// runAnswer is what RunInstances remembers by its token.
type runAnswer struct {
	Reservation string
	IDs         []string
}

func runInstances(c *call) (any, error) {
	least, err := c.Params.Int("MinCount", 1)
	if err != nil {
		return nil, err
	}
	most, err := c.Params.Int("MaxCount", 1)
	if err != nil {
		return nil, err
	}
	if least < 1 || most < least {
		return nil, wire.Errorf("InvalidParameterValue", "MinCount must be at least 1 and MaxCount at least MinCount, got %d and %d", least, most)
	}
	done, err := world.Once(c.Call, func() (runAnswer, error) { return c.server.runOnce(c, least, most) })
	if err != nil {
		return nil, err
	}
	var made []instance.Live
	for _, id := range done.IDs {
		if i := c.server.Records[id]; i != nil {
			m, _ := c.server.Market().Machine(id)
			made = append(made, instance.Live{Instance: i, Machine: m, State: m.At(c.At)})
		}
	}
	return instance.ReservationXML{
		ID: done.Reservation, OwnerID: c.server.Settings.ID, Instances: c.server.InstanceAnswers(made),
	}, nil
}

// runOnce resolves the request over its launch template, if any, and launches
// at least the least number or nothing.
func (s *Launcher) runOnce(c *call, least, most int) (runAnswer, error) {
	l, err := s.runLaunch(c)
	if err != nil {
		return runAnswer{}, err
	}
	if err := s.Authorize(l.who, wire.EC2, s.ofLaunch(l)); err != nil {
		return runAnswer{}, err
	}
	if there, why := s.available(l); there < least && !c.Params.Bool("DryRun") {
		if why.Code == "InsufficientInstanceCapacity" {
			why = why.WithStatus(http.StatusInternalServerError)
		}
		return runAnswer{}, why
	}
	if err := c.Commit(); err != nil {
		return runAnswer{}, err
	}
	answer := runAnswer{Reservation: s.NewID("r")}
	made, why := s.launch(l, most, answer.Reservation)
	if len(made) == 0 {
		return answer, why
	}
	for _, i := range made {
		answer.IDs = append(answer.IDs, i.ID)
	}
	return answer, nil
}

func (s *Launcher) runLaunch(c *call) (launch, error) {
	own, err := template.ReadLaunchData(c.Params)
	if err != nil {
		return launch{}, err
	}
	data := own
	var from *template.Template
	number := 0
	if spec := c.Params.At("LaunchTemplate"); spec != nil {
		t, v, err := s.UsableTemplate(spec.String("LaunchTemplateId"), spec.String("LaunchTemplateName"), spec.String("Version"), c.At)
		if err != nil {
			return launch{}, err
		}
		data, from, number = v.Data.Under(own), t, v.Number
	}
	spot := data.Market != nil && data.Market.Type == "spot"
	l, err := s.resolve(data, spot, c.At)
	l.template, l.version, l.token, l.who = from, number, c.Params.String("ClientToken"), c.Who
	return l, err
}
