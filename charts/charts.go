// Package charts holds the Helm charts of the controller and of its CustomResourceDefinitions.
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
