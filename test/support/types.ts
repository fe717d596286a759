/** The protocol's types, written from the published contract and not imported from the kernel's sources. */

export interface Entry {
  id: string;
  path: string;
  name: string;
  kind: "file" | "folder";
  media: string;
  extension: string;
  mime: string;
  size: number;
  created: string;
  modified: string;
  content_id: string | null;
  tags: string[];
  fields: Record<string, Record<string, unknown>>;
  sidecars: string[];
  location: string;
}

export interface AgentMetrics {
  events_today: number;
  events_received: number;
  events_processed: number;
  events_failed: number;
  avg_event_latency_ms: number;
  p99_event_latency_ms: number;
  temporal_events_count: number;
  knowledge_items_count: number;
  memory_size_bytes: number;
  jobs_dispatched: number;
  jobs_completed: number;
  jobs_failed: number;
  jobs_cancelled?: number;
  cpu_time_ms: number;
  peak_memory_bytes: number;
  wakeups: number;
}

export interface Agent {
  id: string;
  name: string;
  version: string;
  state: string;
  error?: string;
  disabled?: true;
  awaiting?: "acceptance";
  since: string;
  hooks: {
    handler: string;
    on?: string;
    filter?: string;
    schedule?: string;
    nextRun?: string;
    suspended?: { since: string; error: string };
  }[];
  tools: string[];
  permissions: string[];
  locations: string[];
  metrics: AgentMetrics;
}

export interface TraceEntry {
  on_behalf_of?: object[];
  timestamp: string;
  level: string;
  agent: string;
  hook?: string;
  message: string;
  fields?: Record<string, unknown>;
  trace_id: string;
  span_id: string;
}

interface Effect {
  kind: string;
  path: string;
  before: string | null;
  after: string | null;
  from?: string;
  diff?: string;
  summary: string;
}

export interface Action {
  on_behalf_of?: object[];
  callers?: string[];
  id: string;
  agent: string;
  title: string;
  reason: string;
  state: string;
  impact_score: number;
  digest: string;
  effects: Effect[];
  created: string;
  decided?: string;
  decided_by?: string;
  error?: string;
  receipt?: { applied: number[]; finished: string };
  scopes?: { id: string; title: string; rules: { path?: string }[] }[];
}

export interface Tool {
  agent: string;
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

export type ToolResult =
  | { status: "success"; value: unknown }
  | { status: "error"; message: string; recoverable: boolean }
  | { status: "needs_approval"; action: Action; reason: string };

export interface Status {
  version: string;
  pid: number;
  ready: boolean;
  workspace: string;
  stateFolder: string;
  trusted: boolean;
  trust: { digest: string; asks: string[]; pending?: string[] };
  agents: number;
  index: { entries: number; complete: boolean };
  clients: number;
  lasting: boolean;
  rehearsal?: { script: string; run?: string };
  pendingActions: number;
}

export const CODES = {
  NotFound: -33001,
  IllegalTransition: -33002,
  PermissionDenied: -33003,
  ScopeViolation: -33004,
  DigestMismatch: -33005,
  Stale: -33006,
  LimitExceeded: -33007,
  InvalidDocument: -33008,
  Untrusted: -33009,
  AgentError: -33013,
  Conflict: -33014,
} as const;

interface TrustPart {
  id: string;
  group: "see" | "change" | "other";
  title: string;
  detail?: string;
  permission?: string;
  change: "new" | "changed" | "unchanged";
  granted: boolean;
  answered: boolean;
}

export interface TrustQuestion {
  digest: string;
  trusted: boolean;
  answered: boolean;
  since: string | null;
  extensions: {
    extension: string;
    name: string;
    description?: string;
    version: string;
    origin: string;
    state: "new" | "changed" | "unchanged";
    granted: boolean;
    answered: boolean;
    changes: string[];
    program: {
      change: "new" | "changed" | "unchanged";
      fault?: string;
      diff?: { files: number; added: number; removed: number };
    };
    parts: TrustPart[];
    folders: {
      path: string;
      title: string;
      requested: boolean;
      files?: number;
      change: "new" | "changed" | "unchanged";
      granted: boolean;
      answered: boolean;
    }[];
    facts: { kind: string; text: string; change: "new" | "changed" | "unchanged" }[];
    cannot: string[];
  }[];
  workspace: TrustPart[];
}

export interface TrustGrants {
  extensions: { extension: string; parts: string[]; folders: string[] }[];
  workspace: string[];
}

export interface TrustProgram {
  digest: string;
  kept: boolean;
  reason?: string;
  files: { path: string; change: string; added: number; removed: number; diff?: string }[];
}
