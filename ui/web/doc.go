// Package web serves the map of a cluster: pages for a browser, and one stream of what changes.
//
// It promises that a browser that was cut off catches up with what it missed or gets the whole state again, that the
// pages fetch nothing from another host, that nothing from a cluster becomes markup, and that no request changes
// anything. Which clusters may be reached and who asks is decided by its caller: it serves what a view.Source shows.
package web
