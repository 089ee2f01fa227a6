package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"berth/internal/decision"
	"berth/internal/report"
	"berth/internal/scenario"
)

// File is what a page that is one file knows beside the answer that it shows.
type File struct {
	// Command is what made it, Version the program's own.
	Command, Version string
	// Server is the address that links lead to; without one they are plain text.
	Server  string
	Cluster string
	Now     time.Time
	// Notes are put before the answer.
	Notes []string
	// Absent are the kinds that the answer's source has no object of, Source names it and says so.
	Absent []string
	Source string
}

// PodAnswer is a pod's story with the decision that it would get now, which may be absent; without
// a story it is the decision alone.
type PodAnswer struct {
	Story    *report.Story
	Decision *decision.Answer
}

// fileView is an answer with what stands around it in a file.
type fileView struct {
	*File
	CSS template.CSS
}

// Write writes the page about an answer as one file: with its style, without forms and script, and
// loading nothing.
func (o *File) Write(w io.Writer, answer any) error {
	s, err := New(Options{Version: o.Version})
	if err != nil {
		return err
	}
	at, err := url.Parse(o.Server)
	if err != nil {
		return fmt.Errorf("address of the server: %w", err)
	}
	v := &visit{site: s, r: &http.Request{URL: &url.URL{Path: "/"}, Host: at.Host}, query: url.Values{}, typed: url.Values{}, now: o.Now, cluster: o.Cluster}
	f := &frame{visit: v, absent: o.Absent, source: o.Source, Outside: &fileView{o, template.CSS(slices.Concat(s.assets["tokens.css"].body, s.assets["berth.css"].body))}} //nolint:gosec // a file of the program
	name := "answers"
	switch a := answer.(type) {
	case *report.Pending:
		view := boardOf(a, "", o.Now)
		name, f.Title, f.View = "pending", view.Summary, view
	case *report.Queue:
		name, f.Title, f.View = "queue", "Queue of "+a.Snapshot, &queueView{Queue: *a}
	case *scenario.Capacity:
		name, f.Title, f.View = "capacity", "Capacity of "+a.Snapshot, capacityOf(a)
	case *PodAnswer:
		name, f.Title, f.View = podFile(a)
	default:
		view := whatIfOf(answer)
		if view == nil {
			return fmt.Errorf("there is no page about a %T", answer)
		}
		view.read(v)
		f.Title, f.View = view.Summary, view
	}
	var out bytes.Buffer
	if err := s.templates[name].ExecuteTemplate(&out, "file", f); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return contained(w, bytes.NewReader(plain(out.Bytes())), o.Server)
}

// podFile returns the template and the view of a pod's page.
func podFile(a *PodAnswer) (name, title string, view any) {
	if a.Story == nil {
		v := verdictOf(a.Decision)
		return "verdict", v.Pod.Namespace + "/" + v.Pod.Name, v
	}
	pod := podOf(a.Story)
	if a.Decision != nil {
		pod.Verdict = verdictOf(a.Decision)
	}
	return "pod", pod.Pod.Namespace + "/" + pod.Pod.Name, pod
}

// contained copies a page without its forms, with links that lead to a server or, without one, as
// plain text.
func contained(w io.Writer, page io.Reader, server string) error {
	out := &bytes.Buffer{}
	form, plain := false, false
	for z := html.NewTokenizer(page); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			_, err := w.Write(out.Bytes())
			return err
		}
		raw := string(z.Raw()) // Token lower-cases it in place
		token := z.Token()
		switch ends := kind == html.EndTagToken; {
		case token.Data == "form" && (ends || kind == html.StartTagToken):
			form = !ends
			continue
		case form:
			continue
		case token.Data == "a" && kind == html.StartTagToken:
			if href := attribute(&token, "href"); strings.HasPrefix(href, "/") {
				if plain = server == ""; plain {
					continue
				}
				raw = strings.Replace(raw, `href="`, `href="`+html.EscapeString(strings.TrimSuffix(server, "/")), 1)
			}
		case token.Data == "a" && ends && plain:
			plain = false
			continue
		}
		out.WriteString(raw)
	}
}

func attribute(t *html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
