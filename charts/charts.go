// Package charts holds the Helm charts of the controller and of its CustomResourceDefinitions.
//
// It promises that its files are the files that a release packages. It renders nothing: only the lab
// depends on Helm.
package charts

import "embed"

// FS has a folder for each chart, named like it.
//
//go:embed all:daemok all:daemok-crd
var FS embed.FS

//go:generate go run ./derive
