// Package web serves the explorer: pages for people who would rather look than read JSON.
//
// A page requests what it shows from the API's own routes, in process, so that limits, deadlines
// and checks stand in one place, and a page never shows what the API would not answer. A page is
// one file with its view (what the template needs) and the function that loads it, one template
// below templates/, and one line in the table of pages. Every page works without script; the
// script adds keys, copying and reloading. All state is in the URL.
package web
