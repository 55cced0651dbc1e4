package launch

import (
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// Copy launches an instance like another: of its type, image, subnet, groups and profile, with its tags as far as they are
// no system's, whose values rename changes. None's rights and no limit of calls count. It returns the new
// instance's ID.
func (s *Launcher) Copy(id string, rename func(value string) string) (string, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i := s.Records[id]
	if i == nil {
		return "", wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	}
	data := i.Data
	data.Tags = nil
	l, err := s.resolve(data, i.Spot, s.Now())
	if err != nil {
		return "", err
	}
	var its world.Tags
	for _, t := range i.Tags {
		if !strings.HasPrefix(t.Key, "aws:") {
			its = append(its, world.Tag{Key: t.Key, Value: rename(t.Value)})
		}
	}
	l.tags = []world.TagSpecification{{ResourceType: "instance", Tags: its}}
	made, why := s.launch(l, 1, s.NewID("r"))
	if len(made) == 0 {
		return "", why
	}
	return made[0].ID, nil
}
