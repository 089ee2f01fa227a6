// Command cluster runs a real etcd, kube-apiserver and kube-scheduler on
// loopback with berth as their extender, and tries what berth promises to those
// who run it so: each scenario asserts, and then does the books, which means that
// every step is found again in the audit and replays identically.
//
// It plays what such a small cluster lacks: kubelets, which here only finish
// deletions, and the disruption controller. In future a kube-controller-manager runs
// beside them, and kubelets alone are played. It needs Linux, where children end
// with their parent.
package main
