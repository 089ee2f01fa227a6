// Package kubetest is an apiserver for tests: it lists, watches and binds over
// HTTP as the real one does, as far as berth asks, and fails on demand.
package kubetest

import (
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Server is an apiserver with objects in memory. It is safe for concurrent use.
type Server struct {
	http *httptest.Server

	mu       sync.Mutex
	changed  *sync.Cond
	revision int64
	objects  map[string]map[string]json.RawMessage // by resource, then namespace/name
	log      []change
	oldest   int64 // what is before it is forgotten: watches from there are 410
	epoch    int   // watches of an older one end
	lag      time.Duration
	down     bool
	lists    map[string]int
	bind     func(binding *corev1.Binding) error // before a bind takes place
	before   func(w http.ResponseWriter, r *http.Request) (answered bool)
	streams  bool
	whole    func(resource string) // before a streamed list is said to be whole
}

type change struct {
	revision int64
	resource string
	kind     string
	object   json.RawMessage
	at       time.Time
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := prepare()
	s.http.Start()
	s.ends(t)
	return s
}

// NewTLS starts a server and returns a kubeconfig for it.
func NewTLS(t testing.TB) (s *Server, kubeconfig string) {
	t.Helper()
	s = prepare()
	s.http.StartTLS()
	s.ends(t)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})
	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: s.http.URL, CertificateAuthorityData: ca}
	c.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "token"}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	c.CurrentContext = "x"
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return s, kubeconfig
}

func prepare() *Server {
	s := &Server{objects: map[string]map[string]json.RawMessage{}, revision: 100, lists: map[string]int{}}
	s.changed = sync.NewCond(&s.mu)
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	return s
}

func (s *Server) ends(t testing.TB) {
	t.Cleanup(func() {
		s.Cut()
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// Config returns a client's configuration.
func (s *Server) Config() *rest.Config { return &rest.Config{Host: s.http.URL, QPS: -1} }

// Put adds or replaces an object of a resource, such as "pods", and tells the
// watches.
func (s *Server) Put(t testing.TB, resource string, obj runtime.Object) {
	t.Helper()
	obj = obj.DeepCopyObject() // tests in parallel share theirs
	o, err := meta.Accessor(obj)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.put(resource, o.GetNamespace()+"/"+o.GetName(), obj); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) put(resource, key string, obj runtime.Object) error {
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	s.revision++
	o.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	js, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	if s.objects[resource] == nil {
		s.objects[resource] = map[string]json.RawMessage{}
	}
	kind := "ADDED"
	if _, had := s.objects[resource][key]; had {
		kind = "MODIFIED"
	}
	s.objects[resource][key] = js
	s.tell(change{s.revision, resource, kind, js, time.Now()})
	return nil
}

// Delete takes an object away.
func (s *Server) Delete(resource, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := namespace + "/" + name
	js, ok := s.objects[resource][key]
	if !ok {
		return
	}
	delete(s.objects[resource], key)
	s.revision++
	s.tell(change{s.revision, resource, "DELETED", js, time.Now()})
}

func (s *Server) tell(c change) {
	s.log = append(s.log, c)
	s.changed.Broadcast()
}

// Pod returns a pod as it is now.
func (s *Server) Pod(namespace, name string) (*corev1.Pod, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	js, ok := s.objects["pods"][namespace+"/"+name]
	if !ok {
		return nil, false
	}
	var pod corev1.Pod
	if err := json.Unmarshal(js, &pod); err != nil {
		panic(err) // it was marshalled here
	}
	return &pod, true
}

// Cut ends all watches.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.changed.Broadcast()
}

// Forget makes watches that go on from the past impossible, as etcd's compaction
// does.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest, s.log = s.revision+1, nil
	s.revision++
	s.epoch++
	s.changed.Broadcast()
}

// Down makes the server refuse everything, or end that.
func (s *Server) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down = down; down {
		s.epoch++
	}
	s.changed.Broadcast()
}

// Lag delays what watches are told.
func (s *Server) Lag(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lag = d
	s.changed.Broadcast()
}

// BeforeBind sets a function that is called before each bind, outside of any lock. An error refuses
// it.
func (s *Server) BeforeBind(f func(*corev1.Binding) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bind = f
}

// Intercept sets a function that is called first for every call, outside of any lock. It reports
// whether it has answered or cut the connection.
func (s *Server) Intercept(f func(w http.ResponseWriter, r *http.Request) (answered bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// Lists tells how often a resource was listed, other than its metadata alone.
func (s *Server) Lists(resource string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists[resource]
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	down, before := s.down, s.before
	s.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case down:
		fail(w, apierrors.NewServiceUnavailable("down"))
	case r.URL.Path == "/version":
		answer(w, http.StatusOK, map[string]string{"gitVersion": "v1.36.3"})
	case path[0] == "apis" && len(path) == 3:
		answer(w, http.StatusOK, resources(path[1]+"/"+path[2]))
	case r.Method == http.MethodPost && len(path) == 7 && path[6] == "binding":
		s.binding(w, r, path[3], path[5])
	case r.Method == http.MethodGet && len(path) == 6 && path[4] == "pods":
		if pod, ok := s.Pod(path[3], path[5]); ok {
			answer(w, http.StatusOK, pod)
		} else {
			fail(w, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, path[5]))
		}
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		s.watch(w, r, path[len(path)-1])
	case r.Method == http.MethodGet:
		s.list(w, r, path[len(path)-1])
	default:
		http.Error(w, "not here", http.StatusNotFound)
	}
}

// list answers with the objects by name. Its continue token is the key of the
// object before the next page.
func (s *Server) list(w http.ResponseWriter, r *http.Request, resource string) {
	metadata := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
	s.mu.Lock()
	if !metadata {
		s.lists[resource]++
	}
	head := map[string]string{"resourceVersion": strconv.FormatInt(s.revision, 10)}
	list := map[string]any{"kind": "List", "apiVersion": "v1", "metadata": head}
	items := make([]json.RawMessage, 0, len(s.objects[resource]))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	last := ""
	for _, key := range slices.Sorted(maps.Keys(s.objects[resource])) {
		if key <= r.URL.Query().Get("continue") {
			continue
		}
		if limit > 0 && len(items) == limit {
			head["continue"] = last
			break
		}
		last = key
		js := s.objects[resource][key]
		items = append(items, js)
		var head metav1.TypeMeta
		if json.Unmarshal(js, &head) == nil {
			list["kind"], list["apiVersion"] = head.Kind+"List", head.APIVersion
		}
	}
	s.mu.Unlock()
	if len(items) == 0 {
		list["kind"], list["apiVersion"] = emptyLists[resource].kind, emptyLists[resource].version
	}
	list["items"] = items
	if metadata { // with all the rest, which clients drop
		list["kind"], list["apiVersion"] = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	answer(w, http.StatusOK, list)
}

// watch streams changes after a revision, each when it is Lag old.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, resource string) {
	from, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	flusher := w.(http.Flusher)
	encoder := json.NewEncoder(w)
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		var ok bool
		if from, ok = s.stream(w, encoder, resource); !ok {
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	stop := make(chan struct{})
	defer close(stop)
	go func() { // wakes the wait below where the caller goes, or lagging events fall due
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				s.changed.Broadcast()
			}
		}
	}()
	s.mu.Lock()
	epoch := s.epoch
	if from < s.oldest {
		s.mu.Unlock()
		_ = encoder.Encode(map[string]any{"type": "ERROR", "object": apierrors.NewResourceExpired("too old resource version").Status()})
		return
	}
	flusher.Flush()
	for s.epoch == epoch && r.Context().Err() == nil {
		var due []change
		for _, c := range s.log {
			if c.revision > from && time.Since(c.at) >= s.lag {
				from = c.revision
				if c.resource == resource {
					due = append(due, c)
				}
			} else if c.revision > from {
				break
			}
		}
		if len(due) == 0 {
			s.changed.Wait()
			continue
		}
		s.mu.Unlock()
		for _, c := range due {
			if encoder.Encode(map[string]any{"type": c.kind, "object": c.object}) != nil {
				return
			}
		}
		flusher.Flush()
		s.mu.Lock()
	}
	s.mu.Unlock()
}
