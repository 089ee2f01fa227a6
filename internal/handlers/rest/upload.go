package rest

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/keyed"
	"berth/internal/handlers/limits"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/span"
	"berth/internal/store"
)

// uploadSnapshot takes a cluster's whole state in.
//
//	@Summary		Upload a cluster's state
//	@Description	The body is the output of `kubectl get nodes,pods,… -A -o json` (or -o yaml), or multi-document YAML. gzip and zstd are accepted. It replaces the whole state; one that has neither nodes nor pods does not replace one that has, unless allow-empty is set. Uploading the same state again returns the existing revision.
//	@Tags			snapshots
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster				query		string	false	"the cluster; default if absent"
//	@Param			fieldValidation		query		string	false	"how to treat unknown fields; Ignore, which counts them, if absent"	Enums(Strict,Warn,Ignore)
//	@Param			allow-empty			query		bool	false	"let an upload without nodes and pods replace a state that has some"
//	@Param			Content-Encoding	header		string	false	"gzip or zstd"
//	@Param			body				body		object	true	"a v1 List of Kubernetes objects"
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200,201				{object}	Snapshot
//	@Failure		400,401,403,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/snapshots [post]
func (a *API) uploadSnapshot(w http.ResponseWriter, r *http.Request) error {
	name, err := queryCluster(r)
	if err != nil {
		return err
	}
	if err := a.notFollowed(name); err != nil {
		return err
	}
	if err := a.roomForCluster(r.Context(), name); err != nil {
		return err
	}
	mayEmpty, err := flag(r, "allow-empty", false)
	if err != nil {
		return err
	}
	body, done, err := a.inflate(w, r)
	if err != nil {
		return err
	}
	defer done()
	in := bufio.NewReaderSize(body, 64<<10)
	format, err := formatOf(r, in)
	if err != nil {
		return bodyError(err)
	}
	if format == object.YAML || strings.EqualFold(r.Header.Get("Content-Encoding"), "zstd") {
		if err := memory.Take(r.Context(), exchange.DecoderBytes); err != nil {
			return err
		}
	}
	fields, err := a.uploadFields(r)
	if err != nil {
		return err
	}
	limits := a.Limits.Objects()
	limits.Fields = fields.judge
	decoding := memory.Part(r.Context()) // objects are decoded one after the other
	defer decoding.End()
	limits.Weigh = func(bytes int64) error { return decoding.Grow(r.Context(), bytes) }
	status := http.StatusCreated
	answer := keyed.Answering(r.Context(), func(v *revision.View) error { return fields.answer(w, r, v, status) })
	v, created, err := a.clusters.UploadResolved(r.Context(), name, func(yield func(object.Object) error) (map[string]int, error) {
		kept := 0
		_, part := span.Start(r.Context(), span.Decode)
		ignored, err := object.Read(in, format, limits, func(o object.Object) error {
			kept++
			if err := memory.Take(r.Context(), exchange.UploadObject+exchange.UploadFactor*int64(len(o.JSON))); err != nil {
				return err
			}
			return yield(o)
		})
		part.End(err)
		if err == nil && kept == 0 && len(ignored) > 0 {
			err = nothingKept(ignored)
		}
		return ignored, err
	}, a.storedClasses(name), mayEmpty)
	var empties *revision.EmptiesError
	if errors.As(err, &empties) {
		return exchange.BadField(http.StatusConflict, "allow-empty", empties.Error()+". An upload replaces the whole state. Add ?allow-empty=true if the cluster is to be empty")
	}
	if err != nil {
		return bodyError(err)
	}
	a.Metrics.Received(v)
	if !created {
		status = http.StatusOK
	}
	return answer(v)
}

// answer writes the answer of an upload.
func (u *uploadFields) answer(w http.ResponseWriter, r *http.Request, v *revision.View, status int) error {
	if status == http.StatusCreated {
		w.Header().Set("Location", "/v1/snapshots/"+v.ID())
	}
	said := u.posted
	if r.URL.Query().Get("cluster") == "" {
		said.warnings = append(slices.Clip(u.warnings), "no ?cluster= was given: the state went to the cluster "+exchange.DefaultCluster)
	}
	s := snapshotOf(v)
	s.UnknownFields, s.Warnings = u.counts, said.warn(w)
	return exchange.WriteJSON(w, status, s)
}

// nothingKept refuses a body whose objects are all of kinds that decisions do not read. It would
// empty the cluster, which is what an apiserver's Status, sent on by a script, must not do; an
// empty List may.
func nothingKept(ignored map[string]int) error {
	kinds := slices.Sorted(maps.Keys(ignored))
	more := ""
	if n := len(kinds) - 5; n > 0 {
		kinds, more = kinds[:5], fmt.Sprintf(" and %d more kinds", n)
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%.60s", k)
	}
	return exchange.BadField(http.StatusUnprocessableEntity, "kind", "the body holds nothing of a kind that snapshots hold, only "+strings.Join(kinds, ", ")+more)
}

// bodyError words what went wrong while a body was streamed; what readers behind it made of that
// comes second.
func bodyError(err error) error {
	var tooMuch *http.MaxBytesError
	var own *exchange.Error
	var corrupt *corruptError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &tooMuch):
		return exchange.TooLarge("snapshot-max-bytes", fmt.Sprintf("the body is over the limit snapshot-max-bytes=%s", limits.Bytes(tooMuch.Limit)))
	case errors.As(err, &corrupt):
		return exchange.BadRequest(corrupt.Error())
	case errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, store.ErrUnavailable): // a database's connection ends so too
		return exchange.BadRequest("the body ends too early")
	}
	return err
}

// inflate returns the body as it was before compression, within the limits.
func (a *API) inflate(w http.ResponseWriter, r *http.Request) (io.Reader, func(), error) {
	l := &a.Limits
	if r.ContentLength > int64(l.SnapshotMaxBytes) {
		w.Header().Set("Connection", "close")
		return nil, nil, exchange.TooLarge("snapshot-max-bytes", fmt.Sprintf("the body is over the limit snapshot-max-bytes=%s", l.SnapshotMaxBytes))
	}
	raw := &counter{in: http.MaxBytesReader(w, r.Body, int64(l.SnapshotMaxBytes))}
	enc := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding")))
	switch enc {
	case "", "identity":
		return raw, func() {}, nil
	case "gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, nil, bodyError(wrapCorrupt(enc, err))
		}
		return &bounded{in: z, raw: raw, limits: l, encoding: enc}, func() { _ = z.Close() }, nil
	case "zstd":
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, nil, exchange.Internal(err)
		}
		return &bounded{in: z, raw: raw, limits: l, encoding: enc}, z.Close, nil
	}
	return nil, nil, exchange.UnsupportedEncoding(w, enc, "gzip, zstd, identity")
}

// counter counts what was read.
type counter struct {
	in io.Reader
	n  int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// ratioFrom is from how many decompressed bytes on the ratio is judged: a short body says little
// about itself.
const ratioFrom = 1 << 20

// bounded reads decompressed bytes, up to the limits.
type bounded struct {
	in       io.Reader
	raw      *counter
	n        int64
	limits   *limits.Limits
	encoding string
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	b.n += int64(n)
	if b.n > int64(b.limits.SnapshotMaxInflated) {
		return 0, exchange.TooLarge("snapshot-max-inflated", fmt.Sprintf("the decompressed body is over the limit snapshot-max-inflated=%s", b.limits.SnapshotMaxInflated))
	}
	if b.n > ratioFrom && b.n/int64(b.limits.SnapshotMaxRatio) > b.raw.n {
		return 0, exchange.TooLarge("snapshot-max-ratio", fmt.Sprintf("the body grows more than the limit snapshot-max-ratio=%d when decompressed", b.limits.SnapshotMaxRatio))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = wrapCorrupt(b.encoding, err)
	}
	return n, err
}

// corruptError is the error when a body cannot be decompressed.
type corruptError struct {
	encoding string
	err      error
}

func (e *corruptError) Error() string {
	return fmt.Sprintf("the body is not proper %s: %v", e.encoding, e.err)
}
func (e *corruptError) Unwrap() error { return e.err }

// wrapCorrupt tells a broken stream from a body that broke limits on its way.
func wrapCorrupt(encoding string, err error) error {
	var tooMuch *http.MaxBytesError
	if errors.As(err, &tooMuch) {
		return err
	}
	return &corruptError{encoding, err}
}

// formatOf tells JSON from YAML: by the media type where it is one of the two, else by the first
// byte, since curl calls anything a form. A body without any is refused: it would replace a
// cluster's state by nothing.
func formatOf(r *http.Request, in *bufio.Reader) (object.Format, error) {
	format := object.YAML
	for n := 1; ; n++ {
		b, err := in.Peek(n)
		if errors.Is(err, bufio.ErrBufferFull) {
			return format, exchange.BadRequest("the body begins with too much white space")
		}
		if errors.Is(err, io.EOF) {
			return format, exchange.BadRequest("the body is empty; want a v1 List of objects")
		}
		if err != nil {
			return format, err
		}
		if c := b[n-1]; c == '{' || c == '[' {
			format = object.JSON
		} else if strings.IndexByte(" \t\r\n", c) >= 0 {
			continue
		}
		break
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil {
		switch {
		case media == "application/json":
			format = object.JSON
		case admit.IsYAML(media):
			format = object.YAML
		}
	}
	return format, nil
}

// maxUploadFields bounds the different unknown fields that an upload's answer counts by name; the
// others are counted together.
const maxUploadFields = 100

// uploadFields describes what becomes of the unknown fields of an upload, and counts them.
type uploadFields struct {
	posted
	counts map[string]int
}

// uploadFields begins an upload. Dumps come from clusters of other versions, so that Ignore is the
// default.
func (a *API) uploadFields(r *http.Request) (*uploadFields, error) {
	mode, err := fieldMode(r, fieldsIgnore)
	return &uploadFields{posted: posted{mode: mode}, counts: map[string]int{}}, err
}

var itemIndex = regexp.MustCompile(`\[\d+\]`)

// judge is object.Limits.Fields.
func (u *uploadFields) judge(kind, path string, list []object.UnknownField, total int) error {
	if u.mode == fieldsStrict {
		return u.refusal(path, list, total)
	}
	for _, f := range list {
		name := kind + "." + itemIndex.ReplaceAllString(f.Path, "[]")
		if _, there := u.counts[name]; !there && len(u.counts) >= maxUploadFields {
			name = "other"
		}
		u.counts[name]++
		if u.mode == fieldsWarn && len(u.warnings) < maxUploadFields {
			u.warnings = append(u.warnings, fmt.Sprintf("%s.%s: %s", path, f.Path, f.Message()))
		}
	}
	if n := total - len(list); n > 0 {
		u.counts["other"] += n
	}
	return nil
}
