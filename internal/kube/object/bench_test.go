package object

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

const benchNode = `        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "annotations": {
                    "csi.volume.kubernetes.io/nodeid": "{\"ebs.csi.aws.com\":\"i-0abcdef1234567890\"}",
                    "node.alpha.kubernetes.io/ttl": "0",
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true"
                },
                "creationTimestamp": "2026-11-21T02:45:38Z",
                "labels": {
                    "kubernetes.io/arch": "amd64",
                    "kubernetes.io/hostname": "node-%[1]d",
                    "kubernetes.io/os": "linux",
                    "node.kubernetes.io/instance-type": "m6i.4xlarge",
                    "topology.kubernetes.io/region": "r1",
                    "topology.kubernetes.io/zone": "z%[2]d"
                },
                "name": "node-%[1]d",
                "resourceVersion": "556",
                "uid": "58370f2c-e469-4332-8d1f-%012[1]d"
            },
            "spec": {
                "podCIDR": "10.0.0.0/24",
                "providerID": "e2e://z0/n0000"
            },
            "status": {
                "addresses": [
                    {
                        "address": "10.1.2.3",
                        "type": "InternalIP"
                    }
                ],
                "allocatable": {
                    "cpu": "15890m",
                    "ephemeral-storage": "95551679124",
                    "hugepages-2Mi": "0",
                    "memory": "60885Mi",
                    "pods": "110"
                },
                "capacity": {
                    "cpu": "16",
                    "ephemeral-storage": "104845292Ki",
                    "hugepages-2Mi": "0",
                    "memory": "63969Mi",
                    "pods": "110"
                },
                "conditions": [
                    {
                        "lastHeartbeatTime": "2026-11-21T02:45:38Z",
                        "lastTransitionTime": "2026-11-21T02:45:38Z",
                        "message": "kubelet is posting ready status",
                        "reason": "KubeletReady",
                        "status": "True",
                        "type": "Ready"
                    }
                ],
                "images": [
                    {
                        "names": [
                            "registry.example.com/team/app@sha256:7b3ccabffc97de872a30dfd234fd972a66d247c8cfc69b0550f276481852627c",
                            "registry.example.com/team/app:v1.2.3"
                        ],
                        "sizeBytes": 123456789
                    }
                ]
            }
        }`

const benchPod = `        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "annotations": {
                    "kubectl.kubernetes.io/restartedAt": "2026-11-20T10:00:00Z",
                    "prometheus.io/scrape": "true"
                },
                "creationTimestamp": "2026-11-21T02:45:38Z",
                "generateName": "web-5d4f8c7b9c-",
                "generation": 1,
                "labels": {
                    "app": "web-%[2]d",
                    "app.kubernetes.io/instance": "web-%[2]d",
                    "pod-template-hash": "5d4f8c7b9c"
                },
                "name": "web-5d4f8c7b9c-%[1]d",
                "namespace": "team-%[2]d",
                "ownerReferences": [
                    {
                        "apiVersion": "apps/v1",
                        "blockOwnerDeletion": true,
                        "controller": true,
                        "kind": "ReplicaSet",
                        "name": "web-5d4f8c7b9c",
                        "uid": "0a370f2c-e469-4332-8d1f-a120eed700fe"
                    }
                ],
                "resourceVersion": "123456",
                "uid": "58370f2c-e469-4332-8d1f-%012[1]d"
            },
            "spec": {
                "containers": [
                    {
                        "args": [
                            "--config=/etc/app/config.yaml",
                            "--log-level=info"
                        ],
                        "env": [
                            {
                                "name": "POD_NAME",
                                "valueFrom": {
                                    "fieldRef": {
                                        "apiVersion": "v1",
                                        "fieldPath": "metadata.name"
                                    }
                                }
                            },
                            {
                                "name": "DATABASE_PASSWORD",
                                "valueFrom": {
                                    "secretKeyRef": {
                                        "key": "password",
                                        "name": "web-db"
                                    }
                                }
                            },
                            {
                                "name": "ENDPOINT",
                                "value": "https://internal.example.com/api/v2"
                            }
                        ],
                        "image": "registry.example.com/team/app:v1.2.3",
                        "imagePullPolicy": "IfNotPresent",
                        "livenessProbe": {
                            "failureThreshold": 3,
                            "httpGet": {
                                "path": "/healthz",
                                "port": 8080,
                                "scheme": "HTTP"
                            },
                            "periodSeconds": 10,
                            "successThreshold": 1,
                            "timeoutSeconds": 1
                        },
                        "name": "web",
                        "ports": [
                            {
                                "containerPort": 8080,
                                "name": "http",
                                "protocol": "TCP"
                            }
                        ],
                        "resources": {
                            "limits": {
                                "memory": "512Mi"
                            },
                            "requests": {
                                "cpu": "250m",
                                "memory": "512Mi"
                            }
                        },
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File",
                        "volumeMounts": [
                            {
                                "mountPath": "/etc/app",
                                "name": "config"
                            },
                            {
                                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                                "name": "kube-api-access-x7k2p",
                                "readOnly": true
                            }
                        ]
                    }
                ],
                "dnsPolicy": "ClusterFirst",
                "enableServiceLinks": true,
                "nodeName": "node-%[3]d",
                "preemptionPolicy": "PreemptLowerPriority",
                "priority": 0,
                "restartPolicy": "Always",
                "schedulerName": "default-scheduler",
                "securityContext": {},
                "serviceAccount": "default",
                "serviceAccountName": "default",
                "terminationGracePeriodSeconds": 30,
                "tolerations": [
                    {
                        "effect": "NoExecute",
                        "key": "node.kubernetes.io/not-ready",
                        "operator": "Exists",
                        "tolerationSeconds": 300
                    },
                    {
                        "effect": "NoExecute",
                        "key": "node.kubernetes.io/unreachable",
                        "operator": "Exists",
                        "tolerationSeconds": 300
                    }
                ],
                "topologySpreadConstraints": [
                    {
                        "labelSelector": {
                            "matchLabels": {
                                "app": "web-%[2]d"
                            }
                        },
                        "maxSkew": 1,
                        "topologyKey": "topology.kubernetes.io/zone",
                        "whenUnsatisfiable": "ScheduleAnyway"
                    }
                ],
                "volumes": [
                    {
                        "configMap": {
                            "defaultMode": 420,
                            "name": "web"
                        },
                        "name": "config"
                    },
                    {
                        "name": "kube-api-access-x7k2p",
                        "projected": {
                            "defaultMode": 420,
                            "sources": [
                                {
                                    "serviceAccountToken": {
                                        "expirationSeconds": 3607,
                                        "path": "token"
                                    }
                                }
                            ]
                        }
                    }
                ]
            },
            "status": {
                "conditions": [
                    {
                        "lastProbeTime": null,
                        "lastTransitionTime": "2026-11-21T02:45:38Z",
                        "status": "True",
                        "type": "Ready"
                    },
                    {
                        "lastProbeTime": null,
                        "lastTransitionTime": "2026-11-21T02:45:38Z",
                        "status": "True",
                        "type": "PodScheduled"
                    }
                ],
                "containerStatuses": [
                    {
                        "containerID": "containerd://58370f2ce46943328d1fa120eed700fe",
                        "image": "registry.example.com/team/app:v1.2.3",
                        "imageID": "registry.example.com/team/app@sha256:7b3ccabffc97de872a30dfd234fd972a66d247c8",
                        "lastState": {},
                        "name": "web",
                        "ready": true,
                        "restartCount": 0,
                        "started": true,
                        "state": {
                            "running": {
                                "startedAt": "2026-11-21T02:45:38Z"
                            }
                        }
                    }
                ],
                "hostIP": "10.1.2.3",
                "phase": "Running",
                "podIP": "10.0.0.7",
                "qosClass": "Burstable",
                "startTime": "2026-11-21T02:45:38Z"
            }
        }`

// writeCluster writes a List as kubectl prints it.
func writeCluster(w io.Writer, nodes, pods int) error {
	out := bufio.NewWriterSize(w, 256<<10)
	_, _ = out.WriteString("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n")
	for i := range nodes {
		fmt.Fprintf(out, benchNode, i, i%3)
		_, _ = out.WriteString(",\n")
	}
	for i := range pods {
		fmt.Fprintf(out, benchPod, i, i%50, i%max(nodes, 1))
		if i < pods-1 {
			_, _ = out.WriteString(",\n")
		}
	}
	_, _ = out.WriteString("\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
	return out.Flush()
}

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// BenchmarkRead reads a cluster through a pipe. BERTH_BENCH_PODS sets its
// size; there are 30 pods a node. The peak of the heap is sampled.
func BenchmarkRead(b *testing.B) {
	pods := 6000
	if v, err := strconv.Atoi(os.Getenv("BERTH_BENCH_PODS")); err == nil {
		pods = v
	}
	var bytesRead, objects int64
	var peak uint64
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	for b.Loop() {
		r, w := io.Pipe()
		go func() { w.CloseWithError(writeCluster(w, pods/30, pods)) }()
		in := &counter{r: r}
		n := 0
		_, err := Read(in, JSON, Limits{}, func(Object) error {
			if n++; n%2000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
			return nil
		})
		if err != nil || n != pods+pods/30 {
			b.Fatalf("%d objects: %v", n, err)
		}
		bytesRead += in.n
		objects += int64(n)
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(bytesRead)/1e6/time.Since(start).Seconds(), "MB/s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(objects), "allocs/object")
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	b.ReportMetric(float64(bytesRead)/float64(objects), "B/object")
}
