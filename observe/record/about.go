package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/internal/brief"
)

// About returns what is on record about an object, newest first: what holds,
// then by when it began. What is about a node is about its claim too, and the
// other way round; of a pod it includes why instances that it was to run on were not launched.
func (r *Record) About(o Object) []Statement {
	list, _ := r.Statements(time.Time{})
	same := map[Object]bool{o: true}
	for i := range list {
		if s := &list[i]; s.Claim != "" && s.About.Kind != Pod {
			claim := Object{Claim, s.Claim}
			if s.About == o || claim == o {
				same[s.About], same[claim] = true, true
			}
		}
	}
	all := list
	list = ofOnePod(slices.DeleteFunc(slices.Clone(list), func(s Statement) bool { return !same[s.About] }))
	list = append(list, launchesOf(list, all)...)
	slices.SortStableFunc(list, func(a, b Statement) int {
		switch {
		case a.Until.IsZero() != b.Until.IsZero() && a.Until.IsZero():
			return -1
		case a.Until.IsZero() != b.Until.IsZero():
			return 1
		}
		return inTime(b, a)
	})
	return list
}

// ofOnePod leaves out what is about earlier pods of the same name: those of another UID
// than the one that came last.
func ofOnePod(list []Statement) []Statement {
	uid, at := "", time.Time{}
	for i := range list {
		if s := &list[i]; s.UID != "" && !s.From.Before(at) {
			uid, at = s.UID, s.From
		}
	}
	return slices.DeleteFunc(list, func(s Statement) bool { return s.UID != "" && s.UID != uid })
}

// namesMax is how many names an error lists.
const namesMax = 10

// UnknownError says that nothing is on record about an object.
type UnknownError struct {
	Object
	Names []string  // of objects of the kind that something is on record about, sorted
	Since time.Time // how far back the record goes; zero: it is empty
}

// Error names what is on record instead.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("nothing is on record about %s %s", e.Kind, e.Name)
	switch {
	case e.Since.IsZero():
		return text + ": the record is empty"
	case len(e.Names) == 0:
		return fmt.Sprintf("%s, nor about any %s, since %s", text, e.Kind, moment(e.Since))
	}
	names := slices.Clone(e.Names)
	if near := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.Contains(n, e.Name) }); len(near) > 0 {
		names = near
	}
	return fmt.Sprintf("%s since %s; on record are %s", text, moment(e.Since), brief.List(names, namesMax))
}

// Explain returns what is on record about an object, as About does, or an
// UnknownError.
func (r *Record) Explain(o Object) ([]Statement, error) {
	if list := r.About(o); len(list) > 0 {
		return list, nil
	}
	all, _ := r.Statements(time.Time{})
	unknown := &UnknownError{Object: o}
	for i := range all {
		if all[i].About.Kind == o.Kind {
			unknown.Names = append(unknown.Names, all[i].About.Name)
		}
	}
	if len(all) > 0 {
		unknown.Since = all[0].From
	}
	slices.Sort(unknown.Names)
	unknown.Names = slices.Compact(unknown.Names)
	return nil, unknown
}
