package template

import (
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// createLaunchTemplateVersion adds a version, which takes over from its source what it does not
// say itself. Which version is the default stays.
func createLaunchTemplateVersion(c *call) (any, error) {
	made, err := world.Once(c.Call, func() (versionXML, error) { return c.server.makeVersion(c) })
	if err != nil {
		return nil, err
	}
	return struct {
		Version versionXML `xml:"launchTemplateVersion"`
	}{made}, nil
}

func (s *Store) makeVersion(c *call) (versionXML, error) {
	none := versionXML{}
	t, err := c.namedTemplate()
	if err != nil {
		return none, err
	}
	if !c.Params.Has("LaunchTemplateData") {
		return none, wire.Errorf("MissingParameter", "The request must contain the parameter LaunchTemplateData")
	}
	data, err := ReadLaunchData(c.Params.At("LaunchTemplateData"))
	if err != nil {
		return none, err
	}
	if source := c.Params.String("SourceVersion"); source != "" {
		from, err := t.version(source)
		if err != nil {
			return none, err
		}
		data = from.Data.replacedBy(data)
	}
	if err := data.Check(); err != nil {
		return none, err
	}
	if err := c.Commit(); err != nil {
		return none, err
	}
	v := TemplateVersion{Number: t.Versions[len(t.Versions)-1].Number + 1, Description: c.Params.String("VersionDescription"), CreatedAt: c.At, Data: data}
	t.Versions = append(t.Versions, v)
	return s.versionAnswer(numbered{v, t}), nil
}

// replacedBy is under where lists that are given take the place of the lists there were.
func (d LaunchData) replacedBy(o LaunchData) LaunchData {
	if len(o.Tags) > 0 {
		d.Tags = nil
	}
	if len(o.Devices) > 0 {
		d.Devices = nil
	}
	return d.Under(o)
}

// modifyLaunchTemplate chooses the default version.
func modifyLaunchTemplate(c *call) (any, error) {
	t, err := c.namedTemplate()
	if err != nil {
		return nil, err
	}
	v, err := t.version(c.Params.String("SetDefaultVersion"))
	if err != nil {
		return nil, err
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	t.Default = v.Number
	return struct {
		Template templateXML `xml:"launchTemplate"`
	}{c.server.templateAnswer(t)}, nil
}

// namedTemplate is the template that a call names by ID or by name.
func (c *call) namedTemplate() (*Template, error) {
	return c.server.TemplateOf(c.Params.String("LaunchTemplateId"), c.Params.String("LaunchTemplateName"))
}
