import { type Action } from "../../protocol.ts";
import { fakeContext } from "../context.ts";
import { conversation } from "../conversations.ts";
import { action, agent, ask, effect, job, notification } from "../things.ts";

/**
 * What a stranger may write: an icon, a link that runs a command, Markdown, HTML, control codes, and what turns text
 * around or hides it.
 */
export const evil = "top\nbottom $(evil) [x](command:evil) <img src=evil> \u202eback\u001b[2Jhidden\u200b";
export const path = `notes/${evil}.md`;
export const hostileEffects = [
  effect({ path, summary: evil }),
  effect({ kind: "file.move", path, from: `old ${path}`, summary: evil }),
  effect({ kind: "file.delete", path: `gone ${path}`, after: null, summary: evil }),
  effect({ kind: "tag.add", path, tag: evil, summary: evil }),
  effect({ kind: "field.set", path, namespace: evil, key: evil, value: evil, summary: evil }),
  effect({ kind: "sidecar.write", path, sidecar: evil, value: evil, summary: evil }),
];
export const hostile = (given: Partial<Action> = {}): Action =>
  action({
    agent: evil,
    title: evil,
    reason: evil,
    error: evil,
    rejected_reason: evil,
    rule: { sentence: evil },
    asked_because: { sentence: evil },
    on_behalf_of: [{ kind: "schedule", agent: evil, schedule: evil }],
    scopes: [{ id: "file", title: evil, rules: [] }],
    impact_score: 0.9,
    effects: hostileEffects,
    ...given,
  });
const place = { path, line: 1 };
const failure = { message: evil, at: "2026-01-01T12:00:00.000Z", place, handler: evil };
export const hostileAgent = agent({
  id: evil,
  name: evil,
  version: evil,
  error: evil,
  hooks: [
    { handler: evil, on: evil, filter: evil },
    { handler: evil, schedule: evil },
  ] as never,
  tools: [evil],
  permissions: [evil],
  locations: [evil],
  last_failure: failure,
});
export const hostileAsk = ask({
  agent: evil,
  kind: "egress",
  title: evil,
  reason: evil,
  on_behalf_of: [{ kind: "schedule", agent: evil, schedule: evil }],
  sources: [evil],
  facts: { arguments: { [evil]: evil } },
});
const hostileNotification = notification({
  agent: evil,
  title: evil,
  message: evil,
  count: 2,
  action: "a",
});
export const hostileJob = job({
  agent: evil,
  name: evil,
  key: evil,
  state: "Running",
  progress: { fraction: 0.4, message: evil },
});
export const anotherAgent = agent({ id: "other.agent", name: evil });

/** An error with a stranger's words. */
export const refusal = (): never => {
  throw new Error(evil);
};
/** What the kernel answers. */
export const answers: Parameters<typeof fakeContext>[0] = {
  "lares/asks/list": () => [hostileAsk],
  "lares/asks/answer": refusal,
  "lares/notifications/list": () => ({ items: [hostileNotification], total: 1 }),
  "lares/notifications/act": refusal,
  "lares/notifications/dismiss": refusal,
  "lares/actions/approve": () => hostile({ state: "Failed" }),
  "lares/actions/reject": () => hostile({ state: "Rejected" }),
  "lares/actions/undo": () => hostile({ state: "Undone" }),
  "lares/actions/rebase": refusal,
  "lares/actions/content": () => ({ base64: "YQ==", eof: true }),
  "lares/agents/control": () => ({ ...hostileAgent, state: "Error" }),
  "lares/conversations/list": () => ({ items: [conversation({ title: evil, agent: evil })] }),
  "lares/conversations/entries": () => ({ items: [], total: 0 }),
  "lares/conversations/open": () => conversation({ title: evil }),
  "lares/conversations/get": () => conversation({ title: evil }),
  "lares/conversations/delete": () => ({ kept_for_forks: true }),
  "lares/conversations/follow": refusal,
  "lares/decisions/list": () => ({
    items: [{ id: "1", agent: evil, title: evil, used: 1, rules: [], place }],
  }),
  "lares/jobs/list": () => ({ items: [hostileJob], total: 1 }),
  "lares/jobs/cancel": refusal,
  "lares/commands/list": () => [
    {
      agent: evil,
      name: evil,
      title: evil,
      description: evil,
      parameters: {
        required: [evil],
        properties: {
          [evil]: { type: "string", description: evil },
          [`${evil} `]: { enum: [evil], description: evil },
        },
      },
    },
  ],
  "lares/commands/run": () => ({ status: "success", value: evil }),
  "lares/tools/list": () => [{ agent: evil, name: evil, description: evil, parameters: {} }],
  "lares/conversations/why": () => ({
    memories: [{ type: evil, text: evil, read: "now", query: evil, state: "gone" }],
    blocks: [{ name: evil, text: evil, present: false }],
    bulletin: { text: evil, present: false },
    summaries: 1,
  }),
  "lares/conversations/blocks": () => ({
    items: [{ name: evil, description: evil, text: evil, limit: 9, read_only: false, scope: "mind" }],
  }),
  "lares/conversations/editBlock": refusal,
  "lares/conversations/redact": () => ({
    entries: ["e1"],
    conversations: ["c1", "c2"],
    memories: [{ id: "m1", text: evil }],
  }),
  "lares/memory/query": () => ({ items: [{ id: "m1", variant: evil, text: evil, data: { about: evil } }] }),
  "lares/memory/correct": () => ({ id: "m2", seq: 1, blocks: [evil], conversations: [] }),
  "lares/memory/forget": () => ({ conversations: [{ id: "c1", title: evil }], blocks: [evil] }),
  "lares/memory/verify": () => ({ ok: false, records: 1, head: null, firstBad: { seq: 1, reason: evil } }),
  "lares/memory/export": refusal,
  "lares/memory/import": () => ({
    from: evil,
    records: 1,
    bytes: 1,
    vectors: 1,
    head: "a",
    first: "",
    last: "",
  }),
  "lares/models/list": () => ({
    providers: [{ id: "p", api: "ollama", state: "ready", local: true }],
    models: [{ id: `p/${evil}` }],
    routes: { [evil]: `p/${evil}` },
  }),
  "lares/models/test": () => ({ ok: false, error: { class: "Network", message: evil } }),
  "lares/usage": () => ({ groups: [] }),
  "lares/secrets/list": () => ({
    items: [{ name: evil, hosts: [evil], in: evil, created: "2026-01-01T12:00:00.000Z", source: "store" }],
  }),
  "lares/secrets/set": refusal,
  "lares/secrets/remove": refusal,
  "lares/traces/follow": () => ({ subscription: "1" }),
  "lares/traces/unfollow": () => ({}),
  "lares/traces/query": () => [],
};

export const states = ["Committed", "Rejected", "Failed", "Stale", "Expired", "Undone"] as const;
/** An action in each of these states. */
export const ended = (): Action[] => states.map((state) => hostile({ id: state, state, rebasable: true }));
