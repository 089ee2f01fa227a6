package object

import (
	"encoding/json"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateKindCreate returns what an API server refuses in an object of a kind other than Pod and
// PriorityClass that is to be created, beyond what every object is held to when it is read
// (upstream pkg/apis/{apps,batch,core,node,policy,resource,storage}/validation, Validate…). Fields
// that are not kept are not judged, nor templates of pods, and CEL expressions are not compiled.
//
// Most sources of a PersistentVolume are not kept: their number is read from sent, the manifest,
// which is valid JSON, unless it is nil.
func ValidateKindCreate(o Object, sent []byte) field.ErrorList {
	spec := field.NewPath("spec")
	switch x := o.Value.(type) {
	case *corev1.ReplicationController:
		errs := checkReplicas(x.Spec.Replicas)
		if len(x.Spec.Selector) == 0 {
			errs = append(errs, field.Required(spec.Child("selector"), ""))
		}
		return errs
	case *appsv1.ReplicaSet:
		return append(checkReplicas(x.Spec.Replicas), checkNotEmpty(x.Spec.Selector, "deployment")...)
	case *appsv1.StatefulSet:
		return append(checkReplicas(x.Spec.Replicas), checkNotEmpty(x.Spec.Selector, "statefulset")...)
	case *appsv1.Deployment:
		return append(checkReplicas(x.Spec.Replicas), checkNotEmpty(x.Spec.Selector, "deployment")...)
	case *appsv1.DaemonSet:
		return checkNotEmpty(x.Spec.Selector, "daemonset")
	case *batchv1.Job:
		return createdJob(&x.Spec, spec)
	case *batchv1.CronJob:
		errs := createdJob(&x.Spec.JobTemplate.Spec, spec.Child("jobTemplate", "spec"))
		if x.Spec.Schedule == "" {
			errs = append(errs, field.Required(spec.Child("schedule"), ""))
		}
		return errs
	case *nodev1.RuntimeClass:
		return checkName(x.Handler, validation.IsDNS1123Label, field.NewPath("handler"))
	case *corev1.ResourceQuota:
		return createdQuota(x)
	case *policyv1.PodDisruptionBudget:
		return createdPDB(&x.Spec, spec)
	case *corev1.PersistentVolume:
		errs := createdPV(&x.Spec, spec)
		if sent != nil {
			errs = append(errs, checkVolumeSource(sent)...)
		}
		return errs
	case *corev1.PersistentVolumeClaim:
		return createdPVC(&x.Spec, spec)
	case *storagev1.StorageClass:
		return createdStorageClass(x)
	case *storagev1.CSINode:
		return createdCSINode(x, spec.Child("drivers"))
	case *storagev1.CSIStorageCapacity:
		return checkName(x.StorageClassName, validation.IsDNS1123Subdomain, field.NewPath("storageClassName"))
	case *resourcev1.ResourceClaim:
		return createdDeviceClaim(&x.Spec.Devices, spec.Child("devices"))
	case *resourcev1.ResourceClaimTemplate:
		return createdDeviceClaim(&x.Spec.Spec.Devices, spec.Child("spec", "devices"))
	case *resourcev1.ResourceSlice:
		return createdSlice(&x.Spec, spec)
	case *resourcev1.DeviceClass:
		return createdDeviceClass(&x.Spec, spec)
	}
	return nil
}

func checkReplicas(n *int32) field.ErrorList {
	if n == nil {
		return nil
	}
	return checkNotNegative(int64(*n), field.NewPath("spec", "replicas"))
}

func checkNotEmpty(s *metav1.LabelSelector, kind string) field.ErrorList {
	if len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), s, "empty selector is invalid for "+kind)}
}

// createdPDB is ValidatePodDisruptionBudgetSpec.
func createdPDB(s *policyv1.PodDisruptionBudgetSpec, path *field.Path) (errs field.ErrorList) {
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "minAvailable and maxUnavailable cannot be both set"))
	}
	errs = append(errs, checkIntOrPercent(s.MinAvailable, path.Child("minAvailable"))...)
	errs = append(errs, checkIntOrPercent(s.MaxUnavailable, path.Child("maxUnavailable"))...)
	if p := s.UnhealthyPodEvictionPolicy; p != nil {
		errs = append(errs, checkEnum(*p, path.Child("unhealthyPodEvictionPolicy"), policyv1.AlwaysAllow, policyv1.IfHealthyBudget)...)
	}
	return errs
}

// checkIntOrPercent is ValidatePositiveIntOrPercent with IsNotMoreThan100Percent.
func checkIntOrPercent(v *intstr.IntOrString, at *field.Path) (errs field.ErrorList) {
	switch {
	case v == nil:
		return nil
	case v.Type == intstr.Int:
		return checkNotNegative(int64(v.IntVal), at)
	}
	if errs = checkName(v.StrVal, validation.IsValidPercent, at); len(errs) > 0 {
		return errs
	}
	if digits := strings.TrimLeft(strings.TrimSuffix(v.StrVal, "%"), "0"); len(digits) > 3 || len(digits) == 3 && digits > "100" {
		errs = append(errs, field.Invalid(at, v.StrVal, "must not be greater than 100%"))
	}
	return errs
}

// checkAccessModes is what ValidatePersistentVolumeSpec and ValidatePersistentVolumeClaimSpec
// share.
func checkAccessModes(modes []corev1.PersistentVolumeAccessMode, none string, at *field.Path) (errs field.ErrorList) {
	if len(modes) == 0 {
		errs = append(errs, field.Required(at, none))
	}
	others := 0
	for _, m := range modes {
		wrong := checkEnum(m, at, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)
		errs = append(errs, wrong...)
		if len(wrong) == 0 && m != corev1.ReadWriteOncePod {
			others++
		}
	}
	if others > 0 && slices.Contains(modes, corev1.ReadWriteOncePod) {
		errs = append(errs, field.Forbidden(at, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

func checkVolumeMode(m *corev1.PersistentVolumeMode, at *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	return checkEnum(*m, at, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
}

func checkPositiveQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, q.String(), "must be greater than zero")}
}

// createdPV is ValidatePersistentVolumeSpec; of its source see checkVolumeSource.
func createdPV(s *corev1.PersistentVolumeSpec, path *field.Path) field.ErrorList {
	errs := checkAccessModes(s.AccessModes, "", path.Child("accessModes"))
	capacity := path.Child("capacity")
	size, ok := s.Capacity[corev1.ResourceStorage]
	switch {
	case len(s.Capacity) == 0:
		errs = append(errs, field.Required(capacity, ""))
	case !ok || len(s.Capacity) > 1:
		errs = append(errs, field.NotSupported(capacity, field.OmitValueType{}, []corev1.ResourceName{corev1.ResourceStorage}))
	default:
		errs = append(errs, checkPositiveQuantity(size, capacity.Key(string(corev1.ResourceStorage)))...)
	}
	if s.Local != nil && (s.NodeAffinity == nil || s.NodeAffinity.Required == nil) {
		errs = append(errs, field.Required(path.Child("nodeAffinity"), "Local volume requires node affinity"))
	}
	if c := s.CSI; c != nil {
		if c.Driver == "" {
			errs = append(errs, field.Required(path.Child("csi", "driver"), ""))
		}
		if c.VolumeHandle == "" {
			errs = append(errs, field.Required(path.Child("csi", "volumeHandle"), ""))
		}
	}
	errs = append(errs, checkDNSName(s.StorageClassName, path.Child("storageClassName"))...)
	return append(errs, checkVolumeMode(s.VolumeMode, path.Child("volumeMode"))...)
}

// volumeSources are the members of a volume's spec of which an API server wants one, in the order
// in which it looks at them.
var volumeSources = []string{
	"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs", "iscsi", "cinder",
	"fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi",
}

// checkVolumeSource refuses any number of sources but one in a PersistentVolume's manifest.
func checkVolumeSource(raw []byte) (errs field.ErrorList) {
	var m struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil // what is no object has been refused
	}
	path, n := field.NewPath("spec"), 0
	for _, name := range volumeSources {
		if v, ok := m.Spec[name]; !ok || string(v) == "null" {
			continue
		}
		if n++; n > 1 && name != "flexVolume" { // which upstream takes beside another
			errs = append(errs, field.Forbidden(path.Child(name), "may not specify more than 1 volume type"))
		}
	}
	if n == 0 {
		errs = append(errs, field.Required(path, "must specify a volume type"))
	}
	return errs
}

// createdPVC is ValidatePersistentVolumeClaimSpec.
func createdPVC(s *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	errs := checkAccessModes(s.AccessModes, "at least 1 access mode is required", path.Child("accessModes"))
	at := path.Child("resources").Key(string(corev1.ResourceStorage))
	if size, ok := s.Resources.Requests[corev1.ResourceStorage]; ok {
		errs = append(errs, checkPositiveQuantity(size, at)...)
	} else {
		errs = append(errs, field.Required(at, ""))
	}
	if s.StorageClassName != nil {
		errs = append(errs, checkDNSName(*s.StorageClassName, path.Child("storageClassName"))...)
	}
	return append(errs, checkVolumeMode(s.VolumeMode, path.Child("volumeMode"))...)
}

// createdStorageClass is validateProvisioner and ValidateTopologySelectorTerm.
func createdStorageClass(c *storagev1.StorageClass) field.ErrorList {
	errs := checkQualified(strings.ToLower(c.Provisioner), field.NewPath("provisioner"))
	for i, t := range c.AllowedTopologies {
		path, keys := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions"), map[string]bool{}
		for j, r := range t.MatchLabelExpressions {
			if keys[r.Key] {
				errs = append(errs, field.Duplicate(path.Index(j).Child("key"), r.Key))
			}
			keys[r.Key] = true
			errs = append(errs, checkUnique(r.Values, path.Index(j).Child("values"))...)
		}
	}
	return errs
}

// checkUnique refuses what a list holds twice.
func checkUnique(list []string, path *field.Path) (errs field.ErrorList) {
	seen := make(map[string]bool, len(list))
	for i, s := range list {
		if seen[s] {
			errs = append(errs, field.Duplicate(path.Index(i), s))
		}
		seen[s] = true
	}
	return errs
}

// createdCSINode is validateCSINodeDriver.
func createdCSINode(n *storagev1.CSINode, path *field.Path) (errs field.ErrorList) {
	for i, d := range n.Spec.Drivers {
		at, seen := path.Index(i), map[string]bool{}
		errs = append(errs, checkName(d.Name, isDriverName, at.Child("name"))...)
		for _, key := range d.TopologyKeys {
			if seen[key] {
				errs = append(errs, field.Duplicate(at, key))
			}
			seen[key] = true
			errs = append(errs, checkQualified(key, at)...)
		}
	}
	return errs
}

// isDriverName is ValidateCSIDriverName of a name that is not empty, which is refused when it is
// read.
func isDriverName(name string) []string {
	switch {
	case name == "":
		return nil
	case len(name) > 63:
		return []string{validation.MaxLenError(63)}
	}
	return validation.IsDNS1123Subdomain(strings.ToLower(name))
}
