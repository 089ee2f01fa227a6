{{- define "berth.labels" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/part-of: berth
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "berth.selector" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/component: server
{{- end }}

{{- define "berth.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "berth.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "berth.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "berth.database" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ .Values.database.secretName }}, key: {{ .Values.database.key }}}
{{- end }}

{{- /* The role that owns the tables; the servers' own where there is no other. */}}
{{- define "berth.owner" -}}
{{- if .Values.database.ownerSecretName }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ .Values.database.ownerSecretName }}, key: {{ .Values.database.ownerKey }}}
{{- else }}
{{- include "berth.database" . }}
{{- end }}
{{- end }}

{{- /* A CronJob: root, name, schedule, seconds, args, memory, owner, anchors. */}}
{{- define "berth.cronjob" -}}
{{- $r := .root }}
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{ $r.Release.Name }}-{{ .name }}
  namespace: {{ $r.Release.Namespace }}
  labels: {{- include "berth.labels" $r | nindent 4 }}
spec:
  schedule: {{ .schedule | quote }}
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 0
      activeDeadlineSeconds: {{ .seconds }}
      template:
        metadata:
          labels: {app.kubernetes.io/name: berth, app.kubernetes.io/part-of: berth, app.kubernetes.io/component: {{ .name }}}
        spec:
          restartPolicy: Never
          automountServiceAccountToken: false
          enableServiceLinks: false
          {{- with $r.Values.imagePullSecrets }}
          imagePullSecrets: {{- toYaml . | nindent 10 }}
          {{- end }}
          securityContext:
            {{- include "berth.podSecurity" $r | nindent 12 }}
            {{- if .anchors }}
            fsGroup: 65532
            {{- end }}
          containers:
          - name: {{ .name }}
            image: {{ include "berth.image" $r }}
            args: {{- toYaml .args | nindent 12 }}
            env:
            {{- include (ternary "berth.owner" "berth.database" .owner) $r | nindent 12 }}
            resources:
              requests: {cpu: 100m, memory: 64Mi}
              limits: {memory: {{ .memory }}}
            securityContext: {{- include "berth.containerSecurity" $r | nindent 14 }}
            {{- if .anchors }}
            volumeMounts:
            - {name: anchors, mountPath: /anchors}
          volumes:
          - name: anchors
            persistentVolumeClaim: {claimName: {{ $r.Release.Name }}-anchors}
            {{- end }}
{{- end }}
