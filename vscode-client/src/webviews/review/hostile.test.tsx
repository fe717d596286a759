import { renderToString } from "preact-render-to-string";
import { expect, it } from "vitest";
import { action, effect } from "../../testing/things.ts";
import { cardOf } from "../../deciding/review-cards.ts";
import { fileDiffOf } from "../../views/review-diff.ts";
import { line } from "../shared/text.ts";
import { CardSlot, type PageActs } from "./card.tsx";
import { Diff } from "./diff.tsx";
import { ApproveAllPanel } from "./panels.tsx";

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
const hostile = [
  '</p></article><button class="button primary">Approve</button>',
  "<img src=x onerror=alert(1)>",
  '"><script>alert(1)</script>',
  "\u202Egnp.exe\u200b",
  "[Approve](command:lares.approve)",
];
const buttons = (html: string): number => html.match(/<button/g)?.length ?? 0;

it.each(hostile)("an agent's words make no button, element or hidden character: %j", (text) => {
  const drawn = (words: string, section: "waiting" | "outdated"): string =>
    renderToString(
      <CardSlot
        card={cardOf(
          action({
            title: words,
            reason: words,
            error: words,
            on_behalf_of: [{ kind: "schedule", agent: words, schedule: words }],
            ...(section === "outdated" ? { state: "Stale" } : {}),
            effects: [
              effect({ path: `notes/${words}`, summary: words }),
              effect({ kind: "file.delete", path: words }),
            ],
          }),
        )}
        agent={line(words)}
        age="now"
        isCurrent
        isSelected={false}
        page={page}
      />,
    );
  for (const section of ["waiting", "outdated"] as const) {
    const html = drawn(text, section);
    expect(buttons(html)).toBe(buttons(drawn("harmless", section)));
    expect(html).not.toMatch(/<(img|script)|[\u200b\u202a-\u202e\u2066-\u2069]/);
    expect(html).not.toMatch(/\shref=/);
  }
});

it.each(hostile)("a changed text makes nothing but text of a diff: %j", (text) => {
  const diff = fileDiffOf(action().digest, `--- a\n+++ a\n@@ -1,1 +1,1 @@\n-${text}\n+${text}!\n`);
  const html = renderToString(<Diff name={line(text)} diff={diff} leftOut={new Set()} tabIndex={0} />);
  expect(html).toContain("line add");
  expect(html).not.toMatch(/<(img|script|button)|[\u200b\u202a-\u202e\u2066-\u2069]/);
});

it("what would be gone is named, whole, before all of a large one is approved", () => {
  const long = `notes/${"very ".repeat(60)}long.md`;
  const card = cardOf(action({ effects: [effect(), effect({ kind: "file.delete", path: long })] }));
  const html = renderToString(<ApproveAllPanel card={card} onApprove={nothing} onClose={nothing} />);
  expect(html).toContain(long);
  expect(html).toContain("Approve all 2");
});
