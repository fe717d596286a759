import type { Action, Agent, AgentNotification, Ask, Effect, Job, Status } from "../protocol.ts";

/** Values of the wire for tests, with what a test cares about put in. */

const hash = `sha256:${"0".repeat(64)}` as const;

export function effect(given: Partial<Effect> = {}): Effect {
  return {
    kind: "file.edit",
    path: "notes/a.md",
    before: hash,
    after: hash,
    summary: "Edit notes/a.md",
    ...given,
  };
}

export function action(given: Partial<Action> = {}): Action {
  return {
    id: "action-1",
    agent: "test.agent",
    title: "Tidy up",
    reason: "It is untidy.",
    state: "PendingApproval",
    impact_score: 0.1,
    digest: hash,
    effects: [effect()],
    created: "2026-01-01T12:00:00.000Z",
    ...given,
  };
}

export function agent(given: Partial<Agent> = {}): Agent {
  return {
    id: "test.agent",
    name: "Test agent",
    version: "1.0.0",
    state: "Active",
    since: "2026-01-01T11:00:00.000Z",
    hooks: [],
    tools: [],
    permissions: [],
    locations: [],
    metrics: {
      events_today: 0,
      events_received: 0,
      events_processed: 0,
      events_failed: 0,
      avg_event_latency_ms: 0,
      p99_event_latency_ms: 0,
      temporal_events_count: 0,
      knowledge_items_count: 0,
      memory_size_bytes: 0,
      jobs_dispatched: 0,
      jobs_completed: 0,
      jobs_failed: 0,
      cpu_time_ms: 0,
      peak_memory_bytes: 0,
      wakeups: 0,
    },
    ...given,
  };
}

export function ask(given: Partial<Ask> = {}): Ask {
  return {
    id: "ask-1",
    agent: "test.agent",
    kind: "model",
    title: "May agents use it?",
    reason: "None is named.",
    sources: [],
    facts: {},
    scopes: ["always", "once"],
    digest: hash,
    state: "Pending",
    created: "2026-01-01T12:00:00.000Z",
    expires: "2026-01-08T12:00:00.000Z",
    ...given,
  };
}

export function notification(given: Partial<AgentNotification> = {}): AgentNotification {
  return {
    id: "notification-1",
    agent: "test.agent",
    title: "Backup",
    message: "It failed.",
    severity: "warning",
    state: "New",
    count: 1,
    created: "2026-01-01T12:00:00.000Z",
    updated: "2026-01-01T12:00:00.000Z",
    ...given,
  };
}

export function job(given: Partial<Job> = {}): Job {
  return {
    id: "job-1",
    agent: "test.agent",
    name: "work",
    state: "Waiting",
    priority: "normal",
    when_idle: false,
    dispatched: "2026-01-01T11:59:00.000Z",
    attempt: 1,
    checkpoint: false,
    ...given,
  };
}

export function status(given: Partial<Status> = {}): Status {
  return {
    version: "1.0.0",
    pid: 1,
    ready: true,
    workspace: "/workspace",
    stateFolder: "/state",
    trusted: true,
    trust: { digest: hash, asks: [], pending: [], changedPrograms: [] },
    agents: 0,
    index: { entries: 0, complete: true },
    clients: 1,
    lasting: false,
    pendingActions: 0,
    idle: true,
    totals: { events: 0, actions: 0, refusals: 0 },
    ...given,
  };
}
