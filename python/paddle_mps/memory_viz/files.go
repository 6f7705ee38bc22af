// Package memoryviz has the parts of the page that memory-viz writes. They lie here because a wheel takes its files
// from the Python package, which has a writer of its own (__init__.py); the command paddle-mps embeds the same files.
//
// The page is page.html in which each {{name}} is replaced: by the file of that name, or by title and data, which the
// writers make of a snapshot. Both writers give the same bytes for the same snapshot; tests/browser compares them.
package memoryviz

import "embed"

// Files are the parts of the page, by their names.
//
//go:embed page.html page.css page.js map.js timeline.js drawing.js selecting.js
var Files embed.FS
