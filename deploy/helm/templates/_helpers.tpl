{{- define "engine.labels" -}}
app.kubernetes.io/name: memgraph-engine
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}
{{- define "engine.name" -}}
{{ printf "%s-%s" (trunc 40 .root.Release.Name | trimSuffix "-") .part }}
{{- end }}
{{- define "engine.secret" -}}
{{ .Values.neo4j.existingSecret | default (printf "%s-neo4j" .Release.Name) }}
{{- end }}
{{/* One of the two deployments: of `part`, with the `args` of its command, listening on `port`. */}}
{{- define "engine.deployment" -}}
{{- $of := index .root.Values .part -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "engine.name" . }}
  labels: {{- include "engine.labels" . | nindent 4 }}
spec:
  {{- if not .scaled }}
  replicas: {{ $of.replicas }}
  {{- end }}
  selector:
    matchLabels: {{- include "engine.labels" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "engine.labels" . | nindent 8 }}
      annotations:
        prometheus.io/scrape: {{ .scrape | quote }}
        prometheus.io/port: {{ .port | quote }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ add .root.Values.stop 15 }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        seccompProfile: {type: RuntimeDefault}
      {{- with .root.Values.pullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .part }}
          image: "{{ $of.image }}:{{ .root.Values.tag | default .root.Chart.AppVersion }}"
          imagePullPolicy: {{ .root.Values.pullPolicy }}
          args: {{- toYaml .args | nindent 12 }}
          env:
            - name: MEMGRAPH_ENGINE_URI
              value: {{ required "neo4j.uri must say where the database is" .root.Values.neo4j.uri | quote }}
            - name: MEMGRAPH_ENGINE_USER
              value: {{ .root.Values.neo4j.user | quote }}
            - name: MEMGRAPH_ENGINE_PASSWORD
              valueFrom:
                secretKeyRef: {name: {{ include "engine.secret" .root }}, key: password}
            - name: MEMGRAPH_ENGINE_SERVE__STOP
              value: {{ .root.Values.stop | quote }}
            - name: MEMGRAPH_ENGINE_WORKER__STOP
              value: {{ .root.Values.stop | quote }}
            - name: MEMGRAPH_ENGINE_WORKER__TENANT_GROUPS
              value: {{ .root.Values.tenantGroups | toJson | quote }}
            {{- range $name, $value := .root.Values.settings }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
          {{- with .root.Values.settingsFrom }}
          envFrom:
            {{- range . }}
            - secretRef: {name: {{ . }}}
            {{- end }}
          {{- end }}
          ports:
            - {name: http, containerPort: {{ .port }}}
          startupProbe:
            httpGet: {path: /health/live, port: http}
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: {path: /health/live, port: http}
            periodSeconds: 20
            timeoutSeconds: 5
          readinessProbe:
            httpGet: {path: /health/ready, port: http}
            periodSeconds: 5
            timeoutSeconds: 6
          resources: {{- toYaml $of.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
      volumes:
        - name: tmp
          emptyDir: {}
{{- end }}
