package gen

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// features declares features on nodes, and has the pod need one that not every release knows: to
// share the host's network from a user namespace, or options of a mount. An API server drops the
// latter unless a gate is on, which it is not by default.
func (r *releaser) features() {
	for _, n := range r.nodes {
		for _, f := range []string{"UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"} {
			if r.chance(50) {
				r.declare(n, f)
			}
		}
	}
	if r.chance(50) {
		r.incoming.Spec.HostUsers, r.incoming.Spec.HostNetwork = new(false), true
		for _, c := range containersOf(r.incoming) {
			c.Ports = nil
		}
		return
	}
	r.incoming.Spec.Volumes = append(r.incoming.Spec.Volumes, v1.Volume{Name: "scratch", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}})
	c := &r.incoming.Spec.Containers[0]
	c.VolumeMounts = append([]v1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}}, c.VolumeMounts...)
	r.write(r.incoming, func(o tree) {
		first := o["spec"].(tree)["containers"].([]any)[0].(tree)
		first["volumeMounts"].([]any)[0].(tree)["bindMountOptions"] = []any{"noexec"}
	})
}

// declare has a node declare a feature. An API server wants them in order.
func (m *maker) declare(n *v1.Node, feature string) {
	m.write(n, func(o tree) {
		status := o["status"].(tree)
		list, _ := status["declaredFeatures"].([]any)
		if !slices.Contains(list, any(feature)) {
			list = append(list, feature)
		}
		slices.SortFunc(list, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
		status["declaredFeatures"] = list
	})
}
