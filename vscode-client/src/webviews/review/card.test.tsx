import { renderToString } from "preact-render-to-string";
import { expect, it } from "vitest";
import type { Action } from "../../protocol.ts";
import { action } from "../../testing/things.ts";
import { cardOf } from "../../deciding/review-cards.ts";
import { CardSlot, type PageActs } from "./card.tsx";

const nothing = (): void => undefined;
const page: PageActs = {
  host: { ask: () => Promise.reject(new Error("Nobody is there.")), on: () => nothing },
  hasKeys: true,
  register: nothing,
  makeCurrent: nothing,
  toggle: nothing,
  deciding: () => nothing,
  announce: nothing,
};

const drawn = (given: Partial<Action>): string =>
  renderToString(
    <CardSlot
      card={cardOf(action(given))}
      agent="Rewriter"
      age="now"
      isCurrent={false}
      isSelected={false}
      page={page}
    />,
  );
const tick = "m2.5 8.5";

it("only what was applied has a tick", () => {
  expect(drawn({ state: "Committed", decided_by: "user" })).toContain(tick);
  for (const given of [
    { state: "Rejected" },
    { state: "Undone" },
    { state: "Failed" },
    { state: "Expired" },
    { state: "Stale", superseded_by: "action-2" },
    { state: "Stale" },
  ] as const)
    expect(drawn(given), given.state).not.toContain(tick);
});

it("what is out of date says once why, and whether it still fits", () => {
  const why = "notes/a.md has changed since this was proposed.";
  const html = drawn({ state: "Stale", error: why, rebasable: true });
  expect(html.split(why)).toHaveLength(2);
  expect(html).toContain("The proposal still fits");
  expect(drawn({ state: "Stale", error: why })).not.toContain("still fits");
});

it("only what waits or was applied is said to be undoable", () => {
  expect(drawn({})).toContain("Can be undone.");
  expect(drawn({ state: "Stale" })).not.toContain("Can be undone.");
});

it("names who led the agent to it, every character visible, and is silent where nobody did", () => {
  const on_behalf_of: Action["on_behalf_of"] = [
    { kind: "agent", id: "dev.lares.notes" },
    { kind: "process", process: "branch", agent: "dev.lares.mind", conversation: "\u202egnp.\nApproved" },
  ];
  expect(drawn({ on_behalf_of })).toContain(
    String.raw`Requested by dev.lares.notes, on behalf of the branch of dev.lares.mind in the conversation &quot;&lt;U+202E>gnp.\nApproved&quot;.`,
  );
  expect(drawn({})).not.toContain("Requested by");
});
