import type { ShownEntry, ShownEntryOf, ShownPart, ShownProcess } from "./entries.ts";

/** Entries for tests, each with the next seq. */
export class Entries {
  readonly all: ShownEntry[] = [];
  readonly channel = "channel";

  add<Kind extends ShownEntry["kind"]>(
    kind: Kind,
    fields: Omit<ShownEntryOf<Kind>, "kind" | "seq" | "id" | "process" | "created" | "origin" | "by"> &
      Partial<Pick<ShownEntry, "id" | "process" | "origin" | "sources" | "by">>,
  ): ShownEntry {
    const seq = this.all.length + 1;
    const entry = {
      seq,
      id: `e${seq}`,
      process: this.channel,
      created: new Date(Date.UTC(2026, 0, 1, 12, 0, seq)).toISOString(),
      origin: "workspace",
      kind,
      ...fields,
    } as unknown as ShownEntry;
    this.all.push(entry);
    return entry;
  }

  you(text: string): ShownEntry {
    return this.add("message", { role: "user", origin: "person", parts: [{ type: "text", text }] });
  }

  answer(id: string, ...parts: readonly (ShownPart | string)[]): ShownEntry {
    return this.add("message", { id, role: "assistant", origin: "model", parts: parts.map(asPart) });
  }

  partial(id: string, text: string): ShownEntry {
    return this.add("message", {
      id,
      role: "assistant",
      origin: "model",
      parts: [{ type: "text", text }],
      partial: true,
    });
  }

  process(value: Partial<ShownProcess> & Pick<ShownProcess, "state">): ShownEntry {
    const whole = {
      id: this.channel,
      kind: "channel" as const,
      started: "2026-01-01T12:00:00.000Z",
      ...value,
    };
    return this.add("process", { process: whole.id, value: whole });
  }
}

function asPart(part: ShownPart | string): ShownPart {
  return typeof part === "string" ? { type: "text", text: part } : part;
}
