// Package charts holds the Helm charts as users get them: daemok, which runs the controller, and
// daemok-crd, which installs and updates its CustomResourceDefinitions.
//
// It promises that the files are those that a release packages. It renders nothing: Helm is a
// dependency of the lab alone.
package charts

import "embed"

// FS has a folder for each chart, named like it.
//
//go:embed all:daemok all:daemok-crd
var FS embed.FS

//go:generate go run ./derive
