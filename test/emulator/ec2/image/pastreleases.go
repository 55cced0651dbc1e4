package image

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// newestRelease is the minor number of the release that the account is made with, of builds whose releases are
// numbered; oldestRelease is the first that can be asked for, and releasePatchMax the last patch of any.
const (
	newestRelease   = 50
	oldestRelease   = 19
	releasePatchMax = 9
)

// firstReleases are the months in which EKS began to support versions of Kubernetes, by its release calendar: no image
// is older than that.
var firstReleases = map[string]string{
	"1.29": "2024-01", "1.30": "2024-05", "1.31": "2024-09", "1.32": "2025-01", "1.33": "2025-05", "1.34": "2025-10", "1.35": "2026-01", "1.36": "2026-05",
}

var (
	datedRelease    = regexp.MustCompile(`\d{8}`)
	numberedRelease = regexp.MustCompile(`1\.(\d{2})\.(\d+)`)
)

// pastReleases are the releases that a text may name of a version of Kubernetes, of before those that the account is
// made with. AWS keeps images and parameters of all releases, every few days one. On which days they came out is not
// recorded here: each day since EKS has supported the version counts as one of a release, and each number.
func (s *Registry) pastReleases(text, version string) (all []release) {
	began, err := time.Parse("2006-01", firstReleases[version])
	if err != nil {
		return nil
	}
	newest := s.CreatedAt.AddDate(0, 0, -releaseAges[0]).Truncate(24 * time.Hour)
	add := func(r release) {
		if !r.at.Before(began) && r.at.Before(newest) {
			all = append(all, r)
		}
	}
	if at, err := time.Parse("20060102", datedRelease.FindString(text)); err == nil {
		add(release{version: version, at: at, past: true})
	}
	if number := numberedRelease.FindStringSubmatch(text); number != nil {
		minor, _ := strconv.Atoi(number[1]) // digits alone
		patch, err := strconv.Atoi(number[2])
		if age := newestRelease - minor; err == nil && age > 0 && minor >= oldestRelease && patch <= releasePatchMax {
			at := newest.Add(-time.Duration(age)*releaseEvery).AddDate(0, 0, patch)
			add(release{version: version, at: at, age: age, patch: patch, past: true})
		}
	}
	return all
}

// RecallParameter puts the image of a past release there whose parameter is asked for; it tells whether there is one.
func (s *Registry) RecallParameter(name string) bool {
	if !strings.HasPrefix(name, "/aws/service/") {
		return false
	}
	return s.recall(name, func(b build, r release) bool {
		if !strings.HasPrefix(name, r.fill(b.parameter)+"/") {
			return false
		}
		named := map[string]world.Parameter{}
		b.announce(r, b.publish(s.Settings, r), named)
		_, is := named[name]
		return is
	})
}

// recallImages puts the images of past releases there that a request's filters name in full.
func (s *Registry) recallImages(params *wire.Node) {
	for _, f := range params.List("Filter") {
		if f.String("Name") != "name" {
			continue
		}
		for _, name := range f.Strings("Value") {
			if !strings.ContainsAny(name, `*?\`) {
				s.recall(name, func(b build, r release) bool { return r.fill(b.name) == name })
			}
		}
	}
}

// recall publishes the release, of those that a text may name, that is meant; it tells whether it is one that is not
// there yet.
func (s *Registry) recall(text string, meant func(build, release) bool) bool {
	for _, minor := range world.PublishedMinors(s.Settings.EKSVersion) {
		for _, r := range s.pastReleases(text, fmt.Sprintf("1.%d", minor)) {
			for _, b := range buildsFor(minor) {
				if len(b.pinned) > 0 && meant(b, r) {
					return s.publishPast(b, r)
				}
			}
		}
	}
	return false
}

func (s *Registry) publishPast(b build, r release) bool {
	made := b.publish(s.Settings, r)
	if _, err := s.Image(made.ID); err == nil {
		return false
	}
	s.Images = world.ByKey(append(s.Images, made), func(i *Image) string { return i.ID })
	b.announce(r, made, s.Parameters)
	return true
}
