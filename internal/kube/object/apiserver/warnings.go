package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	nodeapi "k8s.io/kubernetes/pkg/api/node"
	pvutil "k8s.io/kubernetes/pkg/api/persistentvolume"
	pvcutil "k8s.io/kubernetes/pkg/api/persistentvolumeclaim"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	serviceapi "k8s.io/kubernetes/pkg/api/service"
	storageutil "k8s.io/kubernetes/pkg/api/storage"
	"k8s.io/kubernetes/pkg/apis/core"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/storage"
	kjson "sigs.k8s.io/json"

	"berth/internal/kube/object"
)

// mostWarned bounds how many bytes the warnings about parts of a pod that upstream compares each
// with all others may have.
const mostWarned = 4 << 20

// notWarned is what is said of a pod that is not judged.
const notWarned = "spec: its ports and volumes are too many, or unfit, to be looked through for warnings"

// PodWarnings returns what an API server warns of in a pod that is to be created and has its
// defaults, sorted (pkg/registry/core/pod strategy.go, WarningsOnCreate and
// applyAppArmorVersionSkew).
func PodWarnings(p *corev1.Pod) (list []string) {
	in := internalPod(p)
	if !warned(&in.Spec) {
		return []string{notWarned}
	}
	if msgs := utilvalidation.IsDNS1123Label(p.Name); len(msgs) > 0 {
		list = append(list, fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can"+
			" result in surprising behavior; a DNS label is recommended: %v", msgs))
	}
	list = append(list, appArmorWarnings(in)...)
	list = append(list, podutil.GetWarningsForPod(context.Background(), in, nil)...)
	slices.Sort(list)
	return clipped(list)
}

// WarningsOf returns what an API server warns of in a pod that is to be created, by its JSON; of a
// pod that is made of a template, by the template's path in its workload. It is none for a pod that
// no API server would read.
func WarningsOf(js []byte, template string) []string {
	p := &corev1.Pod{}
	if len(object.BoundQuantities(js, p)) > 0 || kjson.UnmarshalCaseSensitivePreserveInts(js, p) != nil {
		return nil
	}
	SetPodDefaults(p)
	if template != "" {
		return TemplateWarnings(p, template)
	}
	return PodWarnings(p)
}

// The bounds of what a WarningCache keeps.
const (
	mostCached      = 1024
	mostCachedBytes = 2 << 20 // of the pods' texts
)

// WarningCache returns what WarningsOf does. Pods of one workload differ in their names alone: what
// is warned of them is worked out once. It is safe for concurrent use.
type WarningCache struct {
	mu    sync.Mutex
	lists map[string][]string // guarded by mu; by the pod's text with an empty name
	bytes int                 // guarded by mu; of the keys
}

// Of is WarningsOf of a pod that has a name; a nil cache keeps nothing. The list is not to be
// written.
func (c *WarningCache) Of(js []byte, template, name string) []string {
	quoted := []byte(`"` + name + `"`)
	at := bytes.Index(js, quoted)
	if c == nil || at < 0 || len(utilvalidation.IsDNS1123Label(name)) > 0 { // of which is warned
		return WarningsOf(js, template)
	}
	key := make([]byte, 0, len(js)+len(template)+1)
	key = append(append(append(key, template...), 0), js[:at+1]...)
	key = append(key, js[at+len(quoted)-1:]...)
	c.mu.Lock()
	list, known := c.lists[string(key)]
	c.mu.Unlock()
	if known {
		return list
	}
	list = slices.Clip(WarningsOf(js, template))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes += len(key); c.lists == nil || len(c.lists) >= mostCached || c.bytes > mostCachedBytes {
		c.lists, c.bytes = map[string][]string{}, len(key)
	}
	c.lists[string(key)] = list
	return list
}

// mostWarnings is how many warnings about an object are said.
const mostWarnings = 100

// clipped bounds warnings. The last counts those that are left out.
func clipped(list []string) []string {
	if n := len(list) - mostWarnings; n > 0 {
		return append(list[:mostWarnings:mostWarnings], fmt.Sprintf("and %d more warnings", n))
	}
	return list
}

// TemplateWarnings returns what an API server warns of in the pod template of a workload that is to
// be created, which stands at a path. The template is given as the pod that is made of it.
func TemplateWarnings(p *corev1.Pod, at string) []string {
	in := internalPod(p)
	t := &core.PodTemplateSpec{ObjectMeta: in.ObjectMeta, Spec: in.Spec}
	return clipped(templateWarnings(t, at))
}

func templateWarnings(t *core.PodTemplateSpec, at string) []string {
	if t == nil {
		return nil
	}
	names := strings.Split(at, ".")
	path := field.NewPath(names[0], names[1:]...)
	if !warned(&t.Spec) {
		return []string{at + "." + notWarned}
	}
	list := podutil.GetWarningsForPodTemplate(context.Background(), path, t, nil)
	slices.Sort(list)
	return list
}

// warned reports whether upstream can warn of a pod, and its warnings are bounded: it writes one
// for each two ports of a number and each two paths of a volume that meet.
func warned(s *core.PodSpec) bool {
	type number struct {
		port     int32
		protocol core.Protocol
	}
	total, ports := 0, map[number]int{}
	for _, list := range [][]core.Container{s.InitContainers, s.Containers} {
		for i := range list {
			for _, p := range list[i].Ports {
				n := number{p.ContainerPort, p.Protocol}
				ports[n]++
				total += 100 * ports[n]
			}
		}
	}
	if !legacyAddresses(s) {
		return false
	}
	for i := range s.Volumes {
		if unsigned(s.Volumes[i].Projected) {
			return false
		}
		n, size := 0, 0
		path := func(text string) { n, size = n+1, size+len(text)+100 }
		paths(&s.Volumes[i].VolumeSource, path)
		total += n * size
	}
	return total <= mostWarned
}

// legacyAddresses reports whether the addresses of a pod are such as validation takes: upstream
// logs others.
func legacyAddresses(s *core.PodSpec) bool {
	valid := func(address string) bool {
		return len(utilvalidation.IsValidIPForLegacyField(nil, address, false, nil)) == 0
	}
	for i := range s.HostAliases {
		if !valid(s.HostAliases[i].IP) {
			return false
		}
	}
	if s.DNSConfig == nil {
		return true
	}
	return !slices.ContainsFunc(s.DNSConfig.Nameservers, func(address string) bool { return !valid(address) })
}

// unsigned reports whether a volume has a bundle that names neither itself nor its signer, which
// validation refuses and upstream's warnings do not expect.
func unsigned(v *core.ProjectedVolumeSource) bool {
	return v != nil && slices.ContainsFunc(v.Sources, func(s core.VolumeProjection) bool {
		b := s.ClusterTrustBundle
		return b != nil && b.Name == nil && b.SignerName == nil
	})
}

// paths visits the paths that a volume has files at.
func paths(v *core.VolumeSource, visit func(string)) {
	keys := func(list []core.KeyToPath) {
		for i := range list {
			visit(list[i].Path)
		}
	}
	files := func(list []core.DownwardAPIVolumeFile) {
		for i := range list {
			visit(list[i].Path)
		}
	}
	if v.ConfigMap != nil {
		keys(v.ConfigMap.Items)
	}
	if v.Secret != nil {
		keys(v.Secret.Items)
	}
	if v.DownwardAPI != nil {
		files(v.DownwardAPI.Items)
	}
	if v.Projected == nil {
		return
	}
	for i := range v.Projected.Sources {
		s := &v.Projected.Sources[i]
		visit("")
		if s.ConfigMap != nil {
			keys(s.ConfigMap.Items)
		}
		if s.Secret != nil {
			keys(s.Secret.Items)
		}
		if s.DownwardAPI != nil {
			files(s.DownwardAPI.Items)
		}
	}
}

// appArmorWarnings names the annotations of which an API server makes a field.
func appArmorWarnings(p *core.Pod) (list []string) {
	if len(p.Annotations) == 0 || p.Spec.OS != nil && p.Spec.OS.Name == core.Windows {
		return nil
	}
	var ofPod *core.AppArmorProfile
	if p.Spec.SecurityContext != nil {
		ofPod = p.Spec.SecurityContext.AppArmorProfile
	}
	visit := func(c *core.Container, _ podutil.ContainerType) bool {
		key := core.DeprecatedAppArmorAnnotationKeyPrefix + c.Name
		text, there := p.Annotations[key]
		if !there || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			return true
		}
		profile := podutil.ApparmorFieldForAnnotation(text)
		bad := len(corevalidation.ValidateAppArmorProfileField(profile, &field.Path{})) > 0
		if bad || profile == nil || !apiequality.Semantic.DeepEqual(profile, ofPod) {
			list = append(list, fmt.Sprintf(`%s: deprecated since v1.30; use the "appArmorProfile"`+
				` field instead`, field.NewPath("metadata", "annotations").Key(key)))
		}
		return true
	}
	podutil.VisitContainers(&p.Spec, podutil.AllFeatureEnabledContainers(), visit)
	return list
}

// Warnings returns what an API server warns of in an object of a kind other than Pod that is to be
// created and passes Validate, by its manifest.
func Warnings(o object.Object, manifest []byte) []string {
	warn, k := warnings[o.Key.Kind], kinds[o.Key.Kind]
	if warn == nil || k == nil {
		return nil
	}
	x, errs := k.read(o, manifest)
	if len(errs) > 0 {
		return nil
	}
	return clipped(warn(x))
}

// warnings are the kinds of which API servers warn, as upstream's strategies do
// (pkg/registry/<group>/<kind>/strategy.go WarningsOnCreate).
var warnings = map[string]func(any) []string{
	"Node": warner(nodeWarnings),
	"Service": warner(func(s *core.Service) []string {
		return serviceapi.GetWarningsForService(s, nil)
	}),
	"ResourceQuota":         warner(quotaWarnings),
	"PersistentVolume":      warner(pvutil.GetWarningsForPersistentVolume),
	"PersistentVolumeClaim": warner(pvcutil.GetWarningsForPersistentVolumeClaim),
	"StorageClass":          warner(storageutil.GetWarningsForStorageClass),
	"CSIStorageCapacity":    warner(storageutil.GetWarningsForCSIStorageCapacity),
	"CSIDriver":             warner(driverWarnings),
	"RuntimeClass":          warner(nodeapi.GetWarningsForRuntimeClass),
	"ResourceSlice":         warner(sliceWarnings),
	"ReplicationController": warner(controllerWarnings),
	"ReplicaSet":            warner(replicaSetWarnings),
	"Deployment":            warner(deploymentWarnings),
	"StatefulSet":           warner(statefulSetWarnings),
	"DaemonSet":             warner(daemonSetWarnings),
	"Job":                   warner(jobWarnings),
	"CronJob":               warner(cronJobWarnings),
}

func warner[I any](of func(*I) []string) func(any) []string {
	return func(x any) []string { return of(x.(*I)) }
}

func nodeWarnings(n *core.Node) (list []string) {
	//lint:ignore SA1019 an API server warns of this very field
	if n.Spec.ConfigSource != nil {
		list = append(list, "spec.configSource: the feature is removed")
	}
	if n.Spec.DoNotUseExternalID != "" {
		list = append(list, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range n.Spec.PodCIDRs {
		at := field.NewPath("spec", "podCIDRs").Index(i)
		list = append(list, utilvalidation.GetWarningsForCIDR(at, cidr)...)
	}
	return list
}

func quotaWarnings(q *core.ResourceQuota) (list []string) {
	for _, name := range []core.ResourceName{
		core.ResourceCPU, core.ResourceMemory, core.ResourceStorage, core.ResourceEphemeralStorage,
	} {
		requested, limited := "requests."+name, "limits."+name
		request, ok := q.Spec.Hard[requested]
		if !ok && (name == core.ResourceCPU || name == core.ResourceMemory) {
			request, ok = q.Spec.Hard[name]
			requested = name
		}
		limit, limits := q.Spec.Hard[limited]
		if ok && limits && request.Cmp(limit) > 0 {
			list = append(list, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)",
				requested, request.String(), limited, limit.String()))
		}
	}
	return list
}

func driverWarnings(d *storage.CSIDriver) []string {
	if len(d.Spec.TokenRequests) == 0 || d.Spec.ServiceAccountTokenInSecrets != nil {
		return nil
	}
	return []string{tokensInSecrets}
}

func sliceWarnings(s *resource.ResourceSlice) []string {
	if s.Spec.Driver == strings.ToLower(s.Spec.Driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase;"+
		" %q contains uppercase characters", s.Spec.Driver)}
}
