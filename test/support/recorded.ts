import type { Examples, Exchange } from "../../kernel/build/reference/examples.ts";

/** Values that differ from run to run, by the name of their field. */
const measured: Readonly<Record<string, unknown>> = {
  pid: 4242,
  version: "1.0.0",
  cpu_time_ms: 12.5,
  avg_event_latency_ms: 3.5,
  p99_event_latency_ms: 9,
  peak_memory_bytes: 4_194_304,
  memory_size_bytes: 2048,
  sizeBytes: 2048,
  bytes: 4096,
  wakeups: 1,
  events_received: 2,
  events_processed: 2,
  events_today: 2,
  temporal_events_count: 1,
  knowledge_items_count: 1,
  events: 2,
  idle: true,
  importance: 0.5,
  score: 0.25,
  similarity: 0.75,
  duration_ms: 7,
  took_ms: 4.1,
  first_token_ms: 420,
  // A mind's instructions name the workspace, whose path has another length elsewhere.
  input_tokens: 999,
  // After a summary an estimate, which depends on the letters of ids.
  tokens: 1007,
  spent: 3820,
  token: "laressecret0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978",
};
const time = "2026-11-20T12:00:00.000Z";

/** Records exchanges with the same ids, hashes, times and places in every run. */
export class Recorder {
  readonly #examples: Examples = { requests: {}, notifications: {} };
  #places: readonly (readonly [string, string])[];
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** `places`: folders of this machine and their replacements, the longest first. */
  constructor(places: readonly (readonly [string, string])[]) {
    this.#places = places;
  }

  /** Adds folders of another workspace, the longest first. */
  alsoAt(places: readonly (readonly [string, string])[]): void {
    this.#places = [...places, ...this.#places];
  }

  exchange(method: string, exchange: Exchange): void {
    (this.#examples.requests[method] ??= []).push(this.#stable(exchange) as Exchange);
  }

  notification(method: string, params: unknown): void {
    (this.#examples.notifications[method] ??= []).push(this.#stable(params));
  }

  /** Returns the recorded examples in the form of the file. */
  text(): string {
    return `${JSON.stringify(this.#examples, null, 2)}\n`;
  }

  /** Returns the codes of a method's recorded errors. */
  errorsOf(method: string): Set<string> {
    return new Set(
      (this.#examples.requests[method] ?? []).flatMap(({ error }) =>
        error === undefined ? [] : [String((error.data as { code?: unknown } | undefined)?.code)],
      ),
    );
  }

  #stable(value: unknown, key = ""): unknown {
    if (Object.hasOwn(measured, key) && typeof value === typeof measured[key] && value !== 0)
      return measured[key];
    if (typeof value === "string") return this.#stableText(value);
    if (Array.isArray(value)) return value.map((item) => this.#stable(item));
    if (typeof value !== "object" || value === null) return value;
    // Long paths are wrapped in the file of decisions, which moves its lines.
    if ("line" in value && "path" in value && String(value.path).endsWith("/decisions.yaml"))
      return { ...(this.#stable({ path: value.path }) as object), line: 230 };
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [this.#stableText(name), this.#stable(each, name)]),
    );
  }

  #stableText(text: string): string {
    let stable = text;
    for (const [place, shown] of this.#places) stable = stable.replaceAll(place, shown);
    return (
      stable
        .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) =>
          this.#numbered("id", id, (count) => `0197a000-0000-7000-8000-${String(count).padStart(12, "0")}`),
        )
        .replaceAll(/\b[0-9a-f]{64}\b/g, (hash) =>
          /^0+$/.test(hash) ? hash : this.#numbered("hash", hash, (count) => String(count).padStart(64, "0")),
        )
        // A call, and a process that it started.
        .replaceAll(/(?<![0-9a-f])[0-9a-f]{32}(?=_)/g, (call) =>
          this.#numbered("call", call, (count) => String(count).padStart(32, "0")),
        )
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, time)
        .replaceAll(/[\d,]+ (?=tokens of )/g, "3,820 ")
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\dZ/g, `${time.slice(0, 16)}Z`)
    );
  }

  #numbered(kind: string, value: string, shown: (count: number) => string): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = shown(count);
    this.#names.set(value, name);
    return name;
  }
}
