package emulator

import (
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Copy launches an instance like another: of its type, image, subnet, groups and profile, with its tags as far as they are
// no system's, whose values rename changes. None's rights and no limit of calls count. It returns the new
// instance's ID.
func (s *Server) Copy(id string, rename func(value string) string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.st.Instances[id]
	if i == nil {
		return "", wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	}
	data := i.Data
	data.Tags = nil
	l, err := s.resolve(data, i.Spot, s.now())
	if err != nil {
		return "", err
	}
	var its tags
	for _, t := range i.Tags {
		if !strings.HasPrefix(t.Key, "aws:") {
			its = append(its, tag{Key: t.Key, Value: rename(t.Value)})
		}
	}
	l.tags = []tagSpecification{{ResourceType: "instance", Tags: its}}
	made, why := s.launch(l, 1, s.st.newID("r"))
	if len(made) == 0 {
		return "", why
	}
	return made[0].ID, nil
}
