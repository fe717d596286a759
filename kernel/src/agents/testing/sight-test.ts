import type { Entry } from "../../base/vocabulary/entry.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { AgentDefinition } from "../ports.ts";
import type { RoutedDelivery, RouterOptions } from "../delivery/router.ts";
import { definitionOf } from "./fake-guest.ts";

export function entryAt(path: string, kind: Entry["kind"] = "file"): Entry {
  return {
    id: `id of ${path}`,
    path,
    name: path.slice(path.lastIndexOf("/") + 1),
    kind,
    media: "text",
    extension: "md",
    mime: "text/markdown",
    size: 1,
    created: "2026-11-20T12:00:00.000Z",
    modified: "2026-11-20T12:00:00.000Z",
    content_id: null,
    tags: [],
    fields: {},
    sidecars: [],
    location: ".",
  };
}

export const sightRouting: RouterOptions = {
  clock: new ManualClock(),
  eventOf: (change) => ({ id: "e", name: "EntryCreated", timestamp: "t", ...change }),
  onFilterError: () => undefined,
  isEntry: () => false,
  hides: () => false,
  onWithheld: () => undefined,
};

/** Receives every creation and every end of an index run. */
export function agentWith(locations: readonly string[], filter?: string): AgentDefinition {
  const { authority } = definitionOf();
  const effective = filter === undefined ? authority.effective : { read_entries: { filter } };
  return definitionOf({
    authority: { ...authority, locations, effective },
    hooks: ["EntryCreated", "IndexComplete"].map((on) => ({
      handler: on,
      on,
      accepts: () => ({ passed: true }),
    })),
  });
}

/** "notes/a.md", "IndexComplete notes 3". */
export function lineOf({ payload: { event } }: RoutedDelivery): string {
  const entry = event["entry"] as Entry | undefined;
  return entry === undefined
    ? `${event.name} ${String(event["location"])} ${String(event["entries_processed"])}`
    : entry.path;
}
